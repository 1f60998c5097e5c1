/** Creates remote write from the configuration. */

import type { FastifyBaseLogger } from 'fastify'
import type { RemoteWriteConfig } from '../config.ts'
import { transmitterName } from '../domain/equipment/hardware.ts'
import type { SentChannel } from '../domain/history/remote-write.ts'
import type { ReceiverStore } from '../ingest/receiver-store.ts'
import type { Outbound } from '../manufacturers/sources.ts'
import { now } from '../platform/clock.ts'
import { type Counters, createRemoteWriteCounters } from '../platform/counters.ts'
import type { LeaseManager } from '../sources/lease-manager.ts'
import type { Database } from '../storage/database.ts'
import { createWriteClient } from '../upstream/write-client.ts'
import type { History } from './history.ts'
import { RemoteWriter } from './remote-write.ts'

interface RemoteWriteDeps {
  readonly installationName: string
  readonly db: Database
  readonly history: History
  readonly receiverStore: ReceiverStore
  readonly outbound: Outbound
  readonly leaseManager: LeaseManager
  readonly counters: Counters
  readonly log: FastifyBaseLogger
}

export interface RemoteWrite {
  /** Why levels are not sent; null if they are. */
  readonly problem: string | null
  /** Sends until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

/** Returns null if it is not configured. */
export function createRemoteWrite(
  config: RemoteWriteConfig | null,
  { db, history, receiverStore, outbound, leaseManager, counters, installationName, log }: RemoteWriteDeps,
): RemoteWrite | null {
  if (config === null) return null
  const client = createWriteClient(config, outbound.destinations, now)
  const writer = new RemoteWriter({
    ...{ db, history: history.levels, client, leaseManager, installationName, log },
    intervalSeconds: config.interval_seconds,
    counters: createRemoteWriteCounters(counters),
    listChannels: () =>
      receiverStore.listFacts().flatMap(({ name: receiver, manufacturer, channels }) =>
        channels.map((channel): SentChannel => {
          const { id, channel: number, slot } = channel
          return { id, channel: number, slot, name: transmitterName(channel), receiver, manufacturer }
        }),
      ),
    now,
  })
  return {
    get problem() {
      return writer.problem
    },
    async run(signal) {
      await writer.run(signal)
      await client.close()
    },
  }
}
