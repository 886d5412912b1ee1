"""From loss.backward() and optimizer.step() to a forward function and value_and_grad."""

from migrate.plan.plan import plan_steps
from migrate.plan.training_step import TrainingStep

__all__ = ["TrainingStep", "plan_steps"]
