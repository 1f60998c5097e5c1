/** Stores receivers that a script reports. */

import type { IngestRequest, IngestResult } from '../../contract/ingest.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { MonitoredManufacturer } from '../../domain/equipment/health.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { ingestManufacturer, planIngest } from '../../domain/identity/ingested-receivers.ts'
import type { Ingest } from '../../ingest/ingest.ts'
import type { ReceiverStore } from '../../ingest/receiver-store.ts'
import { ingest as plugin } from '../../manufacturers/ingest/index.ts'
import { addManufacturer, type ManufacturerDeps } from '../sources/change-manufacturers.ts'

export interface IngestReceiversDeps {
  readonly ingest: Pick<Ingest, 'ingest'>
  readonly receiverStore: ReceiverStore
  readonly manufacturerDeps: ManufacturerDeps
  manufacturers(): readonly MonitoredManufacturer[]
}

/** Resolves when the reports are stored. */
export async function ingestReceivers(
  deps: IngestReceiversDeps,
  actor: Actor,
  request: IngestRequest,
): Promise<IngestResult> {
  const { ingest, receiverStore } = deps
  const manufacturers = deps.manufacturers()
  const { accepted, rejected } = planIngest({ known: receiverStore, manufacturers }, request)
  const reports = new Map<string, DeviceReport[]>()
  for (const { manufacturer, report } of accepted) {
    reports.set(manufacturer, [...(reports.get(manufacturer) ?? []), report])
  }
  const isKnown = manufacturers.some(({ code }) => code === ingestManufacturer)
  if (reports.has(ingestManufacturer) && !isKnown) await addIngestManufacturer(deps, actor)
  for (const [manufacturer, batch] of reports) {
    const offline = batch.flatMap(({ id, online }) =>
      online === false ? (receiverStore.factsByApiId(manufacturer, id)?.id ?? []) : [],
    )
    await ingest.ingest({ manufacturer, reports: batch, offline, endsCycle: true })
  }
  return { accepted: accepted.length, rejected }
}

/** Adds the manufacturer of receivers without one, when the first of them is reported. */
async function addIngestManufacturer({ manufacturerDeps }: IngestReceiversDeps, actor: Actor): Promise<void> {
  const record = { code: ingestManufacturer, name: plugin.name, plugin: plugin.code }
  await addManufacturer(manufacturerDeps, actor, record).catch((error) => {
    // Another request has added it in the meantime.
    if (!(error instanceof RequestError) || error.code !== 'taken') throw error
  })
}
