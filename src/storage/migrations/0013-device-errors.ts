/** The errors of each source's devices. */
export const name = '0013-device-errors'

export function statements(): readonly string[] {
  return ['alter table sources add column device_errors text']
}
