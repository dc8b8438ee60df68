"""Questions, grading and the two-step game, as pure rules."""
