"""Programs in any language: how they are run, what they read, and that nothing of them stays."""
