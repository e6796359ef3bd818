"""Tests of resource locks and weights, against the text of seed 001 and a model of sets over three names."""
