"""The use cases of `app` for callers without an event loop; inside one, await those of `app`."""

from tdqs_mcp.app import catalogs, gating, improving, installed_clients, judging, proving, selecting, studying
from tdqs_mcp.app.catalogs import blocking

score = judging.score_blocking
load = catalogs.load_blocking
calibrate = blocking(judging.calibrate)
collect_batch = blocking(judging.collect_batch)
compare = blocking(improving.compare)
list_again = blocking(catalogs.list_again)
lock = blocking(gating.lock)
prove_rewrites = blocking(proving.prove_rewrites)
reach_target = blocking(improving.reach_target)
rewrite = blocking(improving.rewrite)
run_suite = blocking(gating.run_suite)
score_installed = blocking(installed_clients.score_installed)
score_labels = blocking(judging.score_labels)
score_skill = blocking(judging.score_skill)
select = blocking(selecting.select)
shorten = blocking(proving.shorten)
study_benchmark = blocking(studying.study_benchmark)
submit_batch = blocking(judging.submit_batch)
write_requests = blocking(selecting.write_requests)
