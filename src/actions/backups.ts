/** Lists the backups of this installation, and begins one. */

import { join } from 'node:path'
import type { BackupStartedBody, BackupsBody } from '../contract/backups.ts'
import type { Actor } from '../domain/access/access.ts'
import { RequestError } from '../domain/errors.ts'
import { describeProcess } from '../domain/nodes.ts'
import { toTimestamp } from '../domain/timestamp.ts'
import type { Service } from '../service.ts'
import { writeAudit } from '../storage/audit.ts'
import type { BackupFolder } from '../storage/backup-folder.ts'
import { findLastBackup } from '../storage/meta.ts'

export async function listBackups(service: Service): Promise<BackupsBody> {
  const { backups, db, installation } = service
  const { config, folder } = backups
  const entries = (await folder?.list(installation).catch(() => [])) ?? []
  const [last, writer] = [await findLastBackup(db.read), await backups.findWriter()]
  return {
    configuration_file: backups.configurationFile,
    schedule: config && {
      folder: folder?.path ?? config.folder,
      at: config.at,
      days: config.days,
      time_zone: backups.timeZone,
      keep: config.keep,
      with_history: config.with_history,
    },
    next_at: toTime(backups.nextAfter(entries[0])),
    writer: writer && { host: writer.host, pid: writer.pid, responds: writer.owner === service.nodeId },
    running_since: toTime(backups.runningSince),
    failure: findFailure(service),
    last_at: toTime(last),
    free_bytes: (await folder?.freeBytes()) ?? null,
    folder_error: await backups.findFolderFault(),
    backups: folder === null ? [] : await Promise.all(entries.map((entry) => toBackup(folder, entry))),
  }
}

export async function startBackup(service: Service, actor: Actor): Promise<BackupStartedBody> {
  const { backups, db } = service
  if (backups.config === null)
    throw wrongState('No backups are configured. Add the section backup to the configuration, and restart the service.')
  const writer = await backups.findWriter()
  if (writer === null) throw wrongState('No process writes the backups at the moment. Try again in a few seconds.')
  if (writer.owner !== service.nodeId)
    throw wrongState(`The backups are written by ${describeProcess(writer)}. Send the request to that process.`)
  if (backups.runningSince !== null) throw wrongState(runningSentence)
  await db.transaction((tx) => writeAudit(tx, { actor, action: 'backup.create', target: 'backup', result: 'ok' }))
  const startedAt = backups.start()
  if (startedAt === null) throw wrongState(runningSentence)
  return { started_at: toTimestamp(startedAt) }
}

const runningSentence = 'A backup is already being written. Wait until it ends.'

function wrongState(subject: string): RequestError {
  return new RequestError('wrong_state', { subject })
}

/** A failure in another process is known by its alert. */
function findFailure({ backups, alerts }: Service): BackupsBody['failure'] {
  const { failure } = backups
  if (failure !== null) return { at: toTimestamp(failure.at), error: failure.error }
  const alert = alerts.list().find(({ kind, site }) => kind === 'backup_failed' && site === null)
  return alert === undefined ? null : { at: toTimestamp(alert.raised_at), error: alert.data.error ?? alert.message }
}

async function toBackup(
  folder: BackupFolder,
  entry: Awaited<ReturnType<BackupFolder['list']>>[number],
): Promise<BackupsBody['backups'][number]> {
  const { file, at, bytes, with_history, duration_ms } = entry
  const state = await folder.stateOf(entry)
  return { file, path: join(folder.path, file), written_at: toTimestamp(at), duration_ms, bytes, with_history, state }
}

function toTime(at: number | null): string | null {
  return at === null ? null : toTimestamp(at)
}
