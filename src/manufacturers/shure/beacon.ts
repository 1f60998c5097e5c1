/**
 * Who a Shure device says it is when it announces itself: every two seconds or so, over SLP, as ACN (ANSI E1.17) has it.
 * Names of the attributes and how the numbers are put together: as seen from a QLXD4.
 */

import { maxNameChars, readMac, readText } from '../../upstream/fields.ts'
import { parseAttributeReply, type SlpAttributes } from '../../upstream/slp.ts'
import type { AnnouncedDevice, Beacon } from '../plugin.ts'
import { findModel } from './component-ids.ts'
import { countByModel, detectFamily } from './strings/families.ts'
import { idPrefix } from './strings/translate.ts'

/** One digit off the group and port that are registered for SLP. */
export const beacon: Beacon = {
  group: { address: '239.255.254.253', port: 8427 },
  read(datagram, ip) {
    const attributes = parseAttributeReply(datagram)
    return attributes === null ? null : introduce(attributes, ip)
  },
}

/** Null for what cannot be listened to in command strings. */
function introduce(attributes: SlpAttributes, ip: string): AnnouncedDevice | null {
  const known = findModel(/\bcd:([0-9a-f-]{36})/i.exec(attributes['csl-esta.dmp'] ?? '')?.[1] ?? '')
  const told = readText(attributes['acn-fctn'], maxNameChars) ?? null
  const who = known ?? (told === null ? null : byName(told))
  if (who === null) return null
  const mac_address = macOf(attributes.cid ?? '')
  const name = told ?? who.model
  return {
    scheme: who.device_type === 'uhfr' ? 'udp:' : 'tcp:',
    id: `${idPrefix}${mac_address ?? ip}`,
    device_type: who.device_type,
    model: known?.band ? `${name} ${known.band}` : name,
    mac_address,
    channels: who.channels,
  }
}

/** Newer than the table of ids. */
function byName(model: string) {
  const words = { MODEL: model }
  const family = detectFamily(words)
  return family && { model, device_type: family.name, channels: countByModel(family, model) ?? 0 }
}

/** It begins with the last four bytes of the MAC address; those of Shure's own range begin with 00:0E:DD. */
function macOf(cid: string): string | null {
  return /^dd[0-9a-f]{6}-/i.test(cid) ? (readMac(`000E${cid.slice(0, 8)}`) ?? null) : null
}
