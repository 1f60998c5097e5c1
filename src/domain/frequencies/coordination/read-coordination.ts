/** Reads a coordination file. The content determines the format, whatever the name of the file. */

import {
  type Coordination,
  CoordinationFileError,
  type EquipmentProfile,
  numberEqualNames,
  requireCarriers,
} from './coordination.ts'
import { isEquipmentProfile, readEquipmentProfile } from './read-equipment-profile.ts'
import { isWsm, readWsm } from './read-wsm.ts'
import { isWwbReport, readWwbReport } from './read-wwb-report.ts'
import { isWwbShow, readWwbShow } from './read-wwb-show.ts'
import { parseXml } from './xml-tree.ts'

const expected =
  'Expected a show (.shw), a workspace (.cws), a report (CSV) or an equipment profile (.eqp) of Wireless Workbench, or a project of WSM (.wsm).'

export type ReadFile =
  | { readonly coordination: Coordination }
  /** Of an equipment profile. */
  | { readonly profiles: readonly EquipmentProfile[] }

/** Throws a `CoordinationFileError` if the file cannot be read. */
export function readCoordinationFile(text: string): ReadFile {
  if (text.trim() === '') throw new CoordinationFileError('The file is empty.')
  if (!/^\s*</.test(text)) {
    if (isWwbReport(text)) return complete(readWwbReport(text))
    throw new CoordinationFileError(`The file is none that can be read. ${expected}`)
  }
  const root = parseXml(text, { doctype: 'WSM' })
  if (isWwbShow(root)) return complete(readWwbShow(root))
  if (isWsm(root)) return complete(readWsm(root))
  if (isEquipmentProfile(root)) return { profiles: readEquipmentProfile(root) }
  if (root.name === 'scan_data_source') {
    throw new CoordinationFileError('The file is a scan. Upload it under Scans.')
  }
  throw new CoordinationFileError(`The file is XML, but no coordination. ${expected}`)
}

function complete(coordination: Coordination): ReadFile {
  requireCarriers(coordination)
  return { coordination: { ...coordination, carriers: numberEqualNames(coordination.carriers) } }
}
