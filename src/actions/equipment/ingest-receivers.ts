/** Stores receivers that a script reports. */

import type { IngestRequest, IngestResult } from '../../contract/ingest.ts'
import type { Actor } from '../../domain/access/access.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import { RequestError } from '../../domain/errors.ts'
import { ingestManufacturer, planIngest } from '../../domain/identity/ingested-receivers.ts'
import { ingest as plugin } from '../../manufacturers/ingest/index.ts'
import type { Service } from '../../service.ts'
import { addManufacturer } from '../sources/change-manufacturers.ts'

/** Resolves when the reports are stored. */
export async function ingestReceivers(service: Service, actor: Actor, request: IngestRequest): Promise<IngestResult> {
  const { ingest, receiverStore, sourceRegistry } = service
  const manufacturers = sourceRegistry.manufacturers()
  const { accepted, rejected } = planIngest({ known: receiverStore, manufacturers }, request)
  const reports = new Map<string, DeviceReport[]>()
  for (const { manufacturer, report } of accepted) {
    reports.set(manufacturer, [...(reports.get(manufacturer) ?? []), report])
  }
  const isKnown = manufacturers.some(({ code }) => code === ingestManufacturer)
  if (reports.has(ingestManufacturer) && !isKnown) await addIngestManufacturer(service, actor)
  for (const [manufacturer, batch] of reports) {
    const offline = batch.flatMap(({ id, online }) =>
      online === false ? (receiverStore.factsByApiId(manufacturer, id)?.id ?? []) : [],
    )
    await ingest.ingest({ manufacturer, reports: batch, offline, endsCycle: true })
  }
  return { accepted: accepted.length, rejected }
}

/** Adds the manufacturer of receivers without one, when the first of them is reported. */
async function addIngestManufacturer(service: Service, actor: Actor): Promise<void> {
  const record = { code: ingestManufacturer, name: plugin.name, plugin: plugin.code }
  await addManufacturer(service, actor, record).catch((error) => {
    // Another request has added it in the meantime.
    if (!(error instanceof RequestError) || error.code !== 'taken') throw error
  })
}
