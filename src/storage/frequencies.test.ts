/** Spectrum scans in the database, and in backups of it. */

import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestFolder, engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import type { Levels } from '../domain/frequencies/scans/scan.ts'
import { writeBackup } from './backup.ts'
import { openDatabase } from './database.ts'
import { findScanLevels, insertScan, listScans } from './frequencies.ts'
import { findBackupFault } from './inspect-backup.ts'
import { copyIntoPostgres } from './postgres-copy.ts'

const levels: Levels = { khz: Uint32Array.of(1, 470_000, 30_000_000), tenthsDbm: Int16Array.of(-4500, 3000, -1) }
const scan = {
  ...({ name: 'hall.csv', format: 'csv', points: 3, from_khz: 1, to_khz: 30_000_000 } as const),
  ...{ unit: 'dB', isCalibrated: false, step_hz: 12_500 },
  ...{ taken_at: null, uploaded_at: 1_795_375_805_120, by: 'Ada' },
}

describe.each(engines)('scans in the database (%s)', (engine) => {
  // Conformance: C-15.61.
  it('are in a backup, and are restored from it', async () => {
    const db = await openStore(engine)
    const stored = await db.transaction((tx) => insertScan(tx, scan, levels))
    expect(stored).toEqual({ id: 1, ...scan, version: expect.any(Number) })
    const folder = await createTestFolder()
    onTestFinished(folder.drop)
    const file = join(folder.path, 'backup.db')
    await writeBackup(db, db.url, file, { overwrite: true })
    expect(findBackupFault(file)).toBe(null)
    const restored = engine === 'sqlite' ? await openDatabase({ url: `sqlite:${file}` }) : await openStore(engine)
    if (engine === 'sqlite') onTestFinished(() => restored.close())
    else await restored.transaction((tx) => copyIntoPostgres(tx, file))
    expect(await listScans(restored.read)).toEqual([stored])
    expect(await findScanLevels(restored.read, 1)).toEqual(levels)
  })
})
