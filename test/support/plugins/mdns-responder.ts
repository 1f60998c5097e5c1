/** Answers multicast DNS queries for the services of devices with unicast responses (RFC 6762 §6.7). */

import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

export interface AnnouncedService {
  /** For example `_ssc._udp`. */
  readonly type: string
  readonly instance: string
  readonly ip: string
  readonly port: number
  readonly text?: Readonly<Record<string, string>>
}

export async function startResponder(services: readonly AnnouncedService[]) {
  const socket = createSocket('udp4')
  socket.on('message', (question, { port, address }) => {
    for (const service of services) {
      const matches = question.includes(name(service.type.split('.')).subarray(0, -1))
      if (matches) socket.send(responseOf(service), port, address)
    }
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return {
    group: { address: '127.0.0.1', port: (socket.address() as AddressInfo).port },
    close: () => new Promise<void>((resolve) => socket.close(() => resolve())),
  }
}

function responseOf({ type, instance, ip, port, text = {} }: AnnouncedService): Buffer {
  const service = [...type.split('.'), 'local']
  // A subtype lists names of its type.
  const instanceName = [instance, ...(type.split('._sub.').at(-1) ?? '').split('.'), 'local']
  const host = [`host-of-${instance}`, 'local']
  const texts = Object.entries(text).map(([key, value]) => Buffer.from(`${key}=${value}`))
  const header = Buffer.alloc(12)
  header.writeUInt16BE(0x8400, 2)
  header.writeUInt16BE(4, 6)
  return Buffer.concat([
    header,
    record(service, 12, name(instanceName)),
    record(instanceName, 33, Buffer.concat([Buffer.from([0, 0, 0, 0, port >> 8, port & 255]), name(host)])),
    record(instanceName, 16, Buffer.concat(texts.flatMap((text) => [Buffer.from([text.length]), text]))),
    record(host, 1, Buffer.from(ip.split('.').map(Number))),
  ])
}

function record(labels: readonly string[], type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10)
  fields.writeUInt16BE(type, 0)
  fields.writeUInt16BE(1, 2)
  fields.writeUInt32BE(120, 4)
  fields.writeUInt16BE(data.length, 8)
  return Buffer.concat([name(labels), fields, data])
}

function name(labels: readonly string[]): Buffer {
  const parts = labels.map((label) => Buffer.from(label)).flatMap((label) => [Buffer.from([label.length]), label])
  return Buffer.concat([...parts, Buffer.from([0])])
}
