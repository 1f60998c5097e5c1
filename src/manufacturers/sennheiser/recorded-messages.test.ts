/** Messages from manufacturer documentation and from real hardware, and the reports expected from them. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { expectCommonFormat } from '../../../test/support/plugins/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../domain/equipment/receiver.ts'
import type { DatagramSession, DeviceEndpoint } from './datagram-session.ts'
import { createMcpSession as startMcp } from './mcp/session.ts'
import { createSsc1Session as startSsc1 } from './ssc1/session.ts'
import { applyResource } from './ssc2/resources.ts'
import { readChanges, toDeviceReport } from './ssc2/session.ts'
import { createWsmSession as startWsm } from './wsm/session.ts'

interface Fixture {
  readonly source: string
  readonly received: readonly string[]
  /** Expected report of a device at 192.0.2.7. */
  readonly report: DeviceReport
}

const endpoint: DeviceEndpoint = { host: '192.0.2.7', ip: '192.0.2.7', name: null }

const parsers: Readonly<Record<string, (received: readonly string[]) => DeviceReport | null>> = {
  mcp: (received) => replay(startMcp(endpoint), received),
  /** The messages are bytes in hexadecimal digits. */
  wsm(received) {
    const texts = received.map((bytes) => Buffer.from(bytes, 'hex').toString('latin1'))
    return replay(startWsm(endpoint, '192.0.2.1'), texts)
  },
  ssc1: (received) => replay(startSsc1(endpoint), received),
  ssc2(received) {
    const resources = new Map<string, unknown>()
    for (const [path, body] of received.flatMap((data) => readChanges(data) ?? [])) applyResource(resources, path, body)
    return toDeviceReport(resources, endpoint)
  },
}

function replay(session: DatagramSession, received: readonly string[]): DeviceReport | null {
  for (const [now, text] of received.entries()) {
    session.takeDueMessages(now)
    expect(session.receive(text, now), text).toBeNull()
  }
  return session.getReport()
}

describe.each(Object.keys(parsers))('%s', (protocol) => {
  const folder = new URL(`./${protocol}/fixtures/`, import.meta.url)
  test.each(readdirSync(folder))('%s', (name) => {
    const fixture = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture
    const report = parsers[protocol]?.(fixture.received)
    if (!report) throw new Error('the messages contain no device')
    expect(fixture.source.length).toBeGreaterThan(20)
    expectCommonFormat(report)
    expect(report).toEqual(fixture.report)
  })
})
