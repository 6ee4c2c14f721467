"""The use cases of `app` for callers without an event loop; inside one, await those of `app`."""

from tdqs_mcp.app import catalogs, improving, installed_servers, judging, locking, studying
from tdqs_mcp.app.catalogs import blocking

score = judging.score_blocking
load = catalogs.load_blocking
calibrate = blocking(judging.calibrate)
collect_batch = blocking(judging.collect_batch)
compare = blocking(improving.compare)
list_again = blocking(catalogs.list_again)
lock = blocking(locking.lock)
plan = blocking(improving.plan)
rewrite = blocking(improving.rewrite)
run_suite = blocking(installed_servers.run_suite)
score_installed = blocking(installed_servers.score_installed)
score_labels = blocking(judging.score_labels)
score_skill = blocking(judging.score_skill)
select = blocking(improving.select)
study_benchmark = blocking(studying.study_benchmark)
submit_batch = blocking(judging.submit_batch)
what_if = blocking(improving.what_if)
write_tasks = blocking(studying.write_tasks)
