"""The worker's Celery application, with a queue that gives the task of a killed worker to another one after seconds."""

from memory_assets.extras.scaling.celery_app import SETTINGS, app

app.conf.broker_transport_options = {
    **SETTINGS["broker_transport_options"],
    "visibility_timeout": 60,
}
