/** What gear says, as its makers' papers and people who own it tell, and what it must become. */

import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { expectCommonFormat } from '../../../test/plugin-kit-fixtures.ts'
import type { DeviceReport } from '../../model/receiver.ts'
import type { Dialogue, Partner } from './dialogue.ts'
import { startDialogue as startMcp } from './mcp/dialogue.ts'
import { startDialogue as startSsc1 } from './ssc1/dialogue.ts'
import { takeResource } from './ssc2/resources.ts'
import { readChanges } from './ssc2/session.ts'
import { toObservation } from './ssc2/translate.ts'

interface Fixture {
  readonly source: string
  readonly heard: readonly string[]
  /** Of a device at 192.0.2.7. */
  readonly report: DeviceReport
}

const partner: Partner = { host: '192.0.2.7', ip: '192.0.2.7', name: null }

const listeners: Readonly<Record<string, (heard: readonly string[]) => DeviceReport | null>> = {
  mcp: (heard) => converse(startMcp(partner), heard),
  ssc1: (heard) => converse(startSsc1(partner), heard),
  ssc2(heard) {
    const known = new Map<string, unknown>()
    for (const [path, body] of heard.flatMap((data) => readChanges(data) ?? [])) takeResource(known, path, body)
    return toObservation(known, partner)
  },
}

function converse(dialogue: Dialogue, heard: readonly string[]): DeviceReport | null {
  for (const [now, text] of heard.entries()) {
    dialogue.turn(now)
    expect(dialogue.hear(text, now), text).toBeNull()
  }
  return dialogue.observe()
}

describe.each(Object.keys(listeners))('%s', (protocol) => {
  const folder = new URL(`./${protocol}/fixtures/`, import.meta.url)
  test.each(readdirSync(folder))('%s', (name) => {
    const fixture = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture
    const report = listeners[protocol]?.(fixture.heard)
    if (!report) throw new Error('nothing was understood')
    expect(fixture.source.length).toBeGreaterThan(20)
    expectCommonFormat(report)
    expect(report).toEqual(fixture.report)
  })
})
