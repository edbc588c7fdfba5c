"""HOW MANY WAYS AT ONCE: many branches from one leaf, each in its own copy of the folder.

A plan becomes branches (plan.py); a coordinator runs them through workers (running/) and writes the
exploration's log (log/); what they changed is read from its store (results.py, picking.py).
Must not know: a terminal, argv. It prints nothing, asks nobody; agents are made by whoever calls.
Read first: plan.py, facts.py, state.py, permits.py, coordinator.py.
"""
