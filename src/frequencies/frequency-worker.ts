/** Worker thread that checks many carriers and suggests frequencies, which can take seconds. */

import { parentPort } from 'node:worker_threads'
import { checkCarriers } from '../domain/frequencies/check.ts'
import { suggestCarriers } from '../domain/frequencies/suggest.ts'
import type { FrequencyTask, FrequencyTaskResult } from '../domain/frequencies/task.ts'

parentPort?.on('message', (task: FrequencyTask) => {
  parentPort?.postMessage(work(task))
})

function work(task: FrequencyTask): FrequencyTaskResult {
  try {
    if (task.type === 'check') return { ok: true, value: checkCarriers(task.carriers, task.options) }
    const endsAt = performance.now() + task.timeoutMs
    return { ok: true, value: suggestCarriers(task.request, () => performance.now() >= endsAt) }
  } catch (error) {
    return { ok: false, error: String(error) }
  }
}
