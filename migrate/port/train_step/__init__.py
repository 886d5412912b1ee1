"""From loss.backward() and optimizer.step() to a forward function and value_and_grad."""

from migrate.port.train_step.plan import plan_steps
from migrate.port.train_step.step_plan import StepPlan

__all__ = ["StepPlan", "plan_steps"]
