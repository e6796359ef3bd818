"""Tests of what a process is made of."""
