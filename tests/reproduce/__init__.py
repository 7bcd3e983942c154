"""Tests of what the experiments stand on."""
