/** A simulated Sennheiser device with SSC 2 and a source that monitors it, both until the end of the test. */

import { expect } from 'vitest'
import { type Ssc2SimulatorOptions, startSsc2Simulator } from '../../../simulators/sennheiser/ssc2.ts'
import type { OnProblems, PushEvent, SubscriptionTargets } from '../../../src/manufacturers/plugin.ts'
import { sennheiser } from '../../../src/manufacturers/sennheiser/index.ts'
import { openSource } from '../../../src/manufacturers/sources.ts'
import { neverAborted } from '../../../src/platform/wait.ts'
import { createUpstreamClient } from '../../../src/upstream/client.ts'
import { onTestEnd } from '../cleanup.ts'

export const password = 'stage-right-password'
const noTargets: SubscriptionTargets = { ids: () => [], changed: () => new Promise(() => {}) }

export async function start(options: Ssc2SimulatorOptions = {}) {
  const simulator = await startSsc2Simulator(options)
  onTestEnd(() => simulator.close())
  return simulator
}

export function openTestSource(device: string | object, config: object = {}) {
  const [settings] = sennheiser.listSources({
    devices: [device],
    password,
    timeout: 20,
    calls_per_second: 1000,
    ...config,
  })
  if (settings === undefined) throw new Error('the configuration names no source')
  const client = createUpstreamClient({ settings, errors: sennheiser.errors })
  onTestEnd(() => client.close())
  return openSource({ id: 'sennheiser:test', manufacturer: 'sennheiser', plugin: sennheiser, settings, client })
}

/** Subscribes, and returns the events after the session was opened. */
export async function follow(
  source: ReturnType<typeof openTestSource>,
  signal = neverAborted,
  onProblems?: OnProblems,
) {
  const { subscribe } = await source.findAdapter()
  const events = subscribe?.(source.client, noTargets, signal, undefined, onProblems)
  if (events === undefined) throw new Error('it cannot subscribe')
  const iterator = events[Symbol.asyncIterator]()
  onTestEnd(() => iterator.return?.())
  expect((await iterator.next()).value).toEqual({ type: 'open' })
  return iterator
}

export async function drain(iterator: AsyncIterator<PushEvent>): Promise<void> {
  while (!(await iterator.next()).done);
}

export const transmitterOf = (event: PushEvent) =>
  event.type === 'report' ? event.report.channels?.[0]?.transmitter : undefined
