"""PTX to lanes to counters to modelled time: what a laptop can know of a kernel without a GPU."""
