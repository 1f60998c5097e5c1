/** Unit, calibration and step of spectrum scans; unit and step of those that are stored already are not known. */
export const name = '20261128T1220Z-scan-units'

export function statements(): readonly string[] {
  return [
    'alter table scans add column unit text',
    'alter table scans add column is_calibrated bigint not null default 1',
    'alter table scans add column step_hz bigint',
  ]
}
