/** Uploads and deletes spectrum scans. */

import type { UploadedFile } from '../../contract/schema.ts'
import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import {
  type Levels,
  maxScans,
  type ReadScan,
  ScanFileError,
  type ScanFileResult,
  toScanName,
} from '../../domain/frequencies/scans/scan.ts'
import { type NewScan, type Scan, toNewScan } from '../../domain/frequencies/scans/stored-scan.ts'
import { type NamedScan, uniteScans } from '../../domain/frequencies/scans/unite-scans.ts'
import type { RequireVersion } from '../../domain/versions.ts'
import { now } from '../../platform/clock.ts'
import type { ClientKey } from '../../platform/concurrency.ts'
import type { Service } from '../../service.ts'
import { writeAudit } from '../../storage/audit.ts'
import { countScans, deleteScan, findScan, insertScan } from '../../storage/frequencies.ts'
import { nextRevision } from '../../storage/revision.ts'
import { readInThread } from './read-in-thread.ts'

const worker = new URL('./scan-worker.ts', import.meta.url)

interface Uploaded {
  readonly scan: Scan
  readonly read: ReadScan
}

/** Stores the scan in one or more files. `offsetDb` is added to all levels. */
export async function uploadScan(
  service: Service,
  { actor, client }: { readonly actor: Actor; readonly client: ClientKey },
  files: readonly UploadedFile[],
  offsetDb: number,
): Promise<Uploaded> {
  const read = await readFiles(client, files)
  const upload = { name: nameOf(files), offsetDb, uploaded_at: now(), by: actor.name }
  const { scan, levels } = toNewScan(read, upload)
  const details = { offset_db: offsetDb, ...(files.length > 1 && { files: files.length }) }
  return { scan: await storeScan(service, actor, scan, levels, { action: 'scan.upload', ...details }), read }
}

/** Throws a `RequestError` if there are too many scans. `audited`: the action, and its details besides the scan. */
export async function storeScan(
  service: Service,
  actor: Actor,
  scan: NewScan,
  levels: Levels,
  { action, ...more }: { readonly action: 'scan.upload' | 'scan.keep' } & Readonly<Record<string, unknown>>,
): Promise<Scan> {
  const stored = await service.db.transaction(async (tx) => {
    // The counter's row is locked until the commit, so that no other scan is counted too late.
    await nextRevision(tx, 'scans')
    if ((await countScans(tx.query)) >= maxScans) {
      const subject = `${maxScans} scans are stored, which is the limit. Delete a scan and try again.`
      throw new RequestError('wrong_state', { subject })
    }
    const inserted = await insertScan(tx, scan, levels)
    const { id, name, format, points } = inserted
    const details = { name, format, points, ...more }
    await writeAudit(tx, { actor, action, target: `scan ${id}`, result: 'ok', details })
    return inserted
  })
  await service.reload()
  return stored
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

/** Names a scan after its first file, and counts the others. */
function nameOf([first, ...others]: readonly UploadedFile[]): string {
  return toScanName(others.length === 0 ? (first?.name ?? '') : `${first?.name} + ${others.length}`)
}

async function readFiles(client: ClientKey, files: readonly UploadedFile[]): Promise<ReadScan> {
  const scans: NamedScan[] = []
  for (const { name, bytes } of files) {
    const result = await readInThread<ScanFileResult>(client, worker, bytes)
    if ('fault' in result) throw refusal(files.length === 1 ? result.fault : `${toScanName(name)}: ${result.fault}`)
    scans.push({ name: toScanName(name), scan: result.scan })
  }
  try {
    return uniteScans(scans)
  } catch (error) {
    throw error instanceof ScanFileError ? refusal(error.message) : error
  }
}

function refusal(fault: string): RequestError {
  return new RequestError('bad_request', { details: `file: ${fault}` })
}
