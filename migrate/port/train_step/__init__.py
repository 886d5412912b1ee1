"""From loss.backward() and optimizer.step() to a forward function and value_and_grad."""

from migrate.port.train_step.plan import StepPlan, plan_steps

__all__ = ["StepPlan", "plan_steps"]
