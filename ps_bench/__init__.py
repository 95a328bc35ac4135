"""The suite for personalized web sites."""
