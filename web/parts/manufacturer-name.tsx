/** The display name of a manufacturer. */

import { useManufacturerName } from './manufacturer-names.ts'

export function ManufacturerName({ code }: { code: string }) {
  return <bdi>{useManufacturerName(code)}</bdi>
}
