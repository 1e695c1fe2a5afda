"""Builds the sleep worker over the platform's engines."""

from __future__ import annotations

from vicw_runtime.background_throttle import RemoteLoadThrottle, throttled
from vicw_runtime.model_servers.openai_language import open_language_model
from vicw_runtime.operations import Memory
from vicw_runtime.platform.wiring import PlatformWiring
from vicw_runtime.queue.celery_queue import EXTRACT, EXTRACT_QUEUE, CeleryQueue
from vicw_runtime.throttled_indexes import throttled_indexes
from vicw_shared.progress import yield_to_event_loop
from vicw_sleep.consolidation.job import consolidation_of
from vicw_sleep.consolidation.service import Consolidation
from vicw_sleep.mirror.service import Mirror
from vicw_sleep.settings import SleepServiceSettings


class SleepWiring(PlatformWiring):
    """The open engines, and the memory that the jobs work on."""

    def __init__(self, settings: SleepServiceSettings, *, gives_way: bool = False) -> None:
        """``gives_way``: throttle background work while the retrieval service answers questions."""
        super().__init__(settings.platform)
        self.settings = settings
        self.memory: Memory
        self.consolidation: Consolidation
        self._gives_way = gives_way

    async def _build(self) -> None:
        settings, graph, indexes = self.settings, self.engines.graph, self.engines.indexes
        keys, yield_now = graph.key_ring, yield_to_event_loop
        queue = CeleryQueue(settings.redis)
        extraction_queue = CeleryQueue(settings.redis, task=EXTRACT, queue=EXTRACT_QUEUE)
        self._stack.push_async_callback(queue.close)
        self._stack.push_async_callback(extraction_queue.close)
        model = open_language_model(settings.llm) if settings.llm.enabled else None
        if model is not None:
            self._stack.push_async_callback(model.close)
        mirror = Mirror.of(graph, settings.mirror)  # one on another machine is rebuilt by its own process
        if self._gives_way:
            throttle = RemoteLoadThrottle(graph.uses.seconds_since_question, settings.sleep.rest_factor)
            graph, indexes = throttled(graph, throttle), throttled_indexes(indexes, throttle)
            yield_now = throttle.yield_to_foreground
        self.memory = Memory(
            settings=settings,
            registry=self.registry,
            graph=graph,
            keys=keys,
            open_vectors=indexes.open_vectors,
            queue=queue,
            extraction_queue=extraction_queue,
            yield_to_foreground=yield_now,
            indexes=indexes,
            model=model,
            index_queued=queue.wake,
            mirror=mirror if mirror is not None and mirror.path.is_dir() else None,
        )
        self.consolidation = consolidation_of(self.memory)
