"""Who answers questions: people, baselines, replays and models, behind one protocol."""
