/** A device that announces itself over SLP like a Shure device: it multicasts unsolicited Attribute Replies. */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { MulticastGroup } from '../../../src/upstream/announcements.ts'

export interface Beacon {
  readonly group: MulticastGroup
  /** One of this machine's own IP addresses. */
  readonly ip: string
  /** Messages, all of which are sent at every interval. */
  readonly datagrams: readonly Buffer[]
  readonly intervalMs?: number
}

/** Starts to announce the device, over real multicast that does not leave the machine. */
export async function startBeacon({ group, ip, datagrams, intervalMs = 200 }: Beacon) {
  const socket = createSocket('udp4')
  socket.bind(0, ip)
  await once(socket, 'listening')
  socket.setMulticastInterface(ip)
  const send = () => {
    for (const datagram of datagrams) socket.send(datagram, group.port, group.address)
  }
  send()
  const timer = setInterval(send, intervalMs)
  return {
    close: () =>
      new Promise<void>((resolve) => {
        clearInterval(timer)
        socket.close(() => resolve())
      }),
  }
}

/** Creates a message as in RFC 2608 §8 and §10.4: header with language tag, error code, attribute list with length. */
export function attributeReply(attributes: string, errorCode = 0): Buffer {
  const language = Buffer.from('en')
  const list = Buffer.from(attributes)
  const header = Buffer.alloc(14)
  header.set([2, 7])
  header.writeUIntBE(header.length + language.length + 4 + list.length, 2, 3)
  header.writeUInt16BE(language.length, 12)
  const fields = Buffer.alloc(4)
  fields.writeUInt16BE(errorCode, 0)
  fields.writeUInt16BE(list.length, 2)
  return Buffer.concat([header, language, fields, list])
}

/** Returns attributes as sent by a QLXD4 (with other addresses). */
export function shureAttributes(
  fields: { readonly model?: string; readonly dcid?: string; readonly cid?: string } = {},
) {
  const { model = 'QLXD4', dcid = 'CCEAC054-E139-11DF-84BA-0015C5F3F612' } = fields
  const { cid = 'DD47E0D7-0000-11DD-A000-000EDDCCCCCC' } = fields
  return [
    `(cid=${cid}),(acn-fctn=${model}),(acn-uacn=Vox 1),(acn-services=esta.dmp)`,
    `(csl-esta.dmp=esta.sdt/127.0.0.1:57383;esta.dmp/cd:${dcid})`,
    '(device-description=$:tftp://127.0.0.1/$.ddl)',
  ].join(',')
}
