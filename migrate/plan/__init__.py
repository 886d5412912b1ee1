"""From loss.backward() and optimizer.step() to a forward function and value_and_grad."""

from migrate.plan.plan import plan_steps
from migrate.plan.step_plan import StepPlan

__all__ = ["StepPlan", "plan_steps"]
