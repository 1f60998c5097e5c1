/** Fields that several resources have. */

import { text, textOrNull, whole } from '../described.ts'

export const id = whole('Id of the record.')

export const manufacturer = text('Code of the manufacturer.')

export const ip = textOrNull('IPv4 address.')
