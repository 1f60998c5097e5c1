/** Refuses a manufacturer's record with which this installation would follow itself, directly or through others. */

import { RequestError } from '../../domain/errors.ts'
import { findLoop } from '../../domain/sites/sites.ts'
import { followsSites } from '../../manufacturers/index.ts'
import { type MonitoredSource, openSources } from '../../manufacturers/sources.ts'
import type { Service } from '../../service.ts'
import type { StoredManufacturer } from '../../storage/settings.ts'

/** An installation that does not respond within this time is accepted. A loop is then an error of the source. */
const limitMs = 3000

/** Throws a RequestError if the other installation is this one or follows it. */
export async function refuseLoop(
  service: Service,
  record: Pick<StoredManufacturer, 'code' | 'plugin' | 'config'>,
): Promise<void> {
  if (!followsSites(record.plugin)) return
  const sources = openSources(record, service.outbound)
  try {
    const loops = await Promise.all(sources.map((source) => findLoopOf(source, service.installation)))
    const loop = loops.find((found) => found !== null)
    if (loop !== undefined) throw new RequestError('wrong_state', { subject: loop })
  } finally {
    await Promise.all(sources.map(({ client }) => client.close()))
  }
}

async function findLoopOf({ adapter, client }: MonitoredSource, own: string): Promise<string | null> {
  try {
    const path = await adapter.readInstallation?.(client, AbortSignal.timeout(limitMs))
    return path ? findLoop(new URL(client.settings.baseUrl).host, path, own) : null
  } catch {
    // It cannot be followed at the moment, or is no Micwatch. The error of the source says so.
    return null
  }
}
