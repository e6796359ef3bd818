"""Background processes: scheduler, projector, explanations, rebuild and verification."""
