/** Stores the highest levels of a source as a scan. */

import type { Actor } from '../../domain/access/access.ts'
import { RequestError } from '../../domain/errors.ts'
import { minScanPoints, toScanName } from '../../domain/frequencies/scans/scan.ts'
import type { Scan } from '../../domain/frequencies/scans/stored-scan.ts'
import { toKeptScan } from '../../domain/frequencies/sweeps/kept-scan.ts'
import type { LiveSpectrum } from '../../frequencies/live-spectrum.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { storeScan } from './edit-scans.ts'

export function keepSweeps(service: Service, actor: Actor, spectrum: LiveSpectrum, name: string): Promise<Scan> {
  const kept = { name: toScanName(name), uploaded_at: now(), by: actor.name }
  const { scan, levels } = toKeptScan(spectrum.highest, kept)
  if (levels.khz.length < minScanPoints) {
    const subject = `The sweeps have ${levels.khz.length} frequencies, and a scan has at least ${minScanPoints}.`
    throw new RequestError('wrong_state', { subject })
  }
  return storeScan(service, actor, scan, levels, { action: 'scan.keep', source: spectrum.source })
}
