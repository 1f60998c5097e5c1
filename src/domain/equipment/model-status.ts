/** How far the values of a model have been verified. `docs/hardware.md` explains the evidence. */

/** From the weakest to the strongest evidence. */
export const modelStatuses = ['documents', 'capture', 'confirmed by a user'] as const

export interface ModelStatus {
  /** As in `docs/hardware.md`. */
  readonly model: string
  /** The name of the adapter that reads it. */
  readonly protocol: string
  /** Absent: all devices that the adapter reads. */
  readonly deviceTypes?: readonly string[]
  /** The models as the adapter reports them. Absent: all models. */
  readonly models?: RegExp
  /** The verified version; null if the documents apply to several. */
  readonly firmware: string | null
  readonly status: (typeof modelStatuses)[number]
  /** YYYY-MM-DD */
  readonly date: string
  /** For `capture`, begins with the file's name in `test/captures`. */
  readonly source: string
  /** The values that a user compared with the display of the device, or that the capture contains. */
  readonly values: readonly string[]
}

export interface ReportedModel {
  /** The adapters of the sources that report the device. */
  readonly protocols: readonly string[]
  readonly deviceType: string
  readonly model: string | null
  readonly firmware: string | null
}

/** Returns the row with the strongest evidence, if possible for the same firmware; null without a row. */
export function findModelStatus(rows: readonly ModelStatus[], reported: ReportedModel): ModelStatus | null {
  const rank = (row: ModelStatus) =>
    10 * modelStatuses.indexOf(row.status) +
    (row.firmware !== null && row.firmware === reported.firmware ? 2 : 0) +
    (row.models === undefined ? 0 : 1)
  const matching = rows.filter((row) => appliesTo(row, reported))
  return matching.reduce<ModelStatus | null>((best, row) => (best && rank(best) >= rank(row) ? best : row), null)
}

function appliesTo(row: ModelStatus, { protocols, deviceType, model, firmware }: ReportedModel): boolean {
  if (!protocols.includes(row.protocol)) return false
  if (row.deviceTypes?.includes(deviceType) === false) return false
  // A capture shows nothing about other firmware.
  if (row.status === 'capture' && row.firmware !== firmware) return false
  return row.models === undefined || (model !== null && row.models.test(model))
}
