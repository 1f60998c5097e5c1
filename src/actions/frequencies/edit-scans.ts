/** Uploads and deletes spectrum scans. */

import type { UploadedFile } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { maxScans, type ReadScan, type ScanFileResult, toScanName } from '../../domain/frequencies/scans/scan.ts'
import { type Scan, toNewScan } from '../../domain/frequencies/scans/stored-scan.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import { FairQueue } from '../../platform/concurrency.ts'
import { startThread } from '../../platform/thread.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { countScans, deleteScan, findScan, insertScan } from '../../storage/frequencies.ts'
import { nextRevision } from '../../storage/revision.ts'

/** Reading takes a few seconds for the largest files on a slow machine. */
const maxReadingMs = 60_000
const maxReadingMegabytes = 1024

/** Files are read one after the other, so that several large ones do not fill the memory. */
const reading = new FairQueue({
  atOnce: 1,
  places: 64,
  refuse: (share) =>
    new RequestError('scans_busy', { details: `at most ${share} of one client are read or wait at a time` }),
})

interface Uploaded {
  readonly scan: Scan
  readonly read: ReadScan
}

/** Stores the scan in a file. `offsetDb` is added to all levels. */
export async function uploadScan(
  service: Service,
  { actor, client }: { readonly actor: Actor; readonly client: ClientKey },
  file: UploadedFile,
  offsetDb: number,
): Promise<Uploaded> {
  const read = await reading.run(client, () => readInThread(file.bytes))
  const upload = { name: toScanName(file.name), offsetDb, uploaded_at: now(), by: actor.name }
  const { scan, levels } = toNewScan(read, upload)
  const stored = await service.db.transaction(async (tx) => {
    // The counter's row is locked until the commit, so that no other upload is counted too late.
    await nextRevision(tx, 'scans')
    if ((await countScans(tx.query)) >= maxScans) {
      const subject = `${maxScans} scans are stored, which is the limit. Delete a scan and upload the file again.`
      throw new RequestError('wrong_state', { subject })
    }
    const inserted = await insertScan(tx, scan, levels)
    const { id, name, format, points } = inserted
    const details = { name, format, points, offset_db: offsetDb }
    await writeAudit(tx, { actor, action: 'scan.upload', target: `scan ${id}`, result: 'ok', details })
    return inserted
  })
  await service.reload()
  return { scan: stored, read }
}

export async function removeScan(
  service: Service,
  actor: Actor,
  id: number,
  requireVersion: RequireVersion<Scan>,
): Promise<void> {
  const { db } = service
  await db.transaction(async (tx) => {
    await nextRevision(tx, 'scans')
    const scan = await findScan(tx.query, id)
    if (scan === undefined) throw new RequestError('not_found', { subject: `scan ${id}` })
    requireVersion(scan, `scan ${id}`)
    await deleteScan(tx, id)
    const details = { name: scan.name }
    await writeAudit(tx, { actor, action: 'scan.delete', target: `scan ${id}`, result: 'ok', details })
  })
  await service.reload()
}

/** Reads a file in a thread of its own, with limits on its time and memory. */
async function readInThread(bytes: Uint8Array): Promise<ReadScan> {
  const thread = startThread(new URL('./scan-worker.ts', import.meta.url), {
    workerData: bytes,
    resourceLimits: { maxOldGenerationSizeMb: maxReadingMegabytes },
  })
  try {
    const result = await new Promise<ScanFileResult>((resolve) => {
      const tooComplex = () => resolve({ fault: 'The file takes too much time or memory to read. Export it again.' })
      const timer = setTimeout(tooComplex, maxReadingMs)
      thread
        .once('message', resolve)
        .once('error', tooComplex)
        .once('exit', () => {
          clearTimeout(timer)
          tooComplex()
        })
    })
    if ('fault' in result) throw new RequestError('bad_request', { details: `file: ${result.fault}` })
    return result.scan
  } finally {
    await thread.terminate()
  }
}
