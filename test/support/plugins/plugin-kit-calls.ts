/** Calls of a plugin. */

import type { FollowedMessage } from '../../../src/domain/sites/followed.ts'
import {
  type ProtocolAdapter,
  type PushEvent,
  reportHealth,
  type SubscriptionTargets,
} from '../../../src/manufacturers/plugin.ts'
import type { UpstreamClient } from '../../../src/upstream/client.ts'

export const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
const noTargets = { ids: () => [], changed: untilAborted }
const followOptions = { resumeAfter: null, onLatency() {}, onOpen() {}, onDropped() {} }

/** Subscribes to a system, or follows another installation. */
export function listen(
  { subscribe, follow }: ProtocolAdapter,
  client: UpstreamClient,
  signal: AbortSignal,
  targets: SubscriptionTargets = noTargets,
): AsyncIterable<PushEvent | FollowedMessage> {
  const events = follow?.(client, signal, followOptions) ?? subscribe?.(client, targets, signal)
  if (events === undefined) throw new Error('the adapter cannot subscribe')
  return events
}

export function firstEvent({ follow }: ProtocolAdapter): string {
  return follow === undefined ? 'open' : 'snapshot'
}

export function checkHealth(adapter: ProtocolAdapter, client: UpstreamClient, signal?: AbortSignal) {
  return reportHealth(client, () => adapter.listDevices(client, signal))
}

interface Call {
  readonly name: string
  run(signal: AbortSignal): Promise<unknown>
}

export function callsOf(
  adapter: ProtocolAdapter,
  client: UpstreamClient,
  device?: Parameters<ProtocolAdapter['readPart']>[1],
): Call[] {
  const { subscribe, follow, readInstallation, discovery } = adapter
  const calls: Call[] = [
    { name: 'listDevices', run: (signal) => adapter.listDevices(client, signal) },
    { name: 'checkHealth', run: (signal) => checkHealth(adapter, client, signal) },
  ]
  for (const part of device === undefined ? [] : adapter.partsOf(device)) {
    calls.push({ name: part, run: (signal) => adapter.readPart(client, device as never, part, signal) })
  }
  if (subscribe) calls.push({ name: 'subscribe', run: (signal) => drain(subscribe(client, noTargets, signal)) })
  if (follow) calls.push({ name: 'follow', run: (signal) => drain(follow(client, signal, followOptions)) })
  if (readInstallation) {
    calls.push({ name: 'readInstallation', run: (signal) => readInstallation(client, signal) })
  }
  if (discovery) {
    calls.push(
      { name: 'getDiscoveryIps', run: (signal) => discovery.getDiscoveryIps(client, signal) },
      { name: 'addDiscoveryIps', run: (signal) => discovery.addDiscoveryIps(client, ['10.0.0.1'], signal) },
      { name: 'removeDiscoveryIps', run: (signal) => discovery.removeDiscoveryIps(client, ['10.0.0.1'], signal) },
    )
  }
  return calls
}

export async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of events);
}
