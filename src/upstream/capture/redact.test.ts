import { describe, expect, it } from 'vitest'
import { findInJson, findInText, type PrivateValues } from './private-values.ts'
import { Redaction } from './redact.ts'

function redactionOf(texts: readonly string[], { words = [] as string[], kept = [] as string[], known = {} } = {}) {
  const values: PrivateValues = new Map()
  findInJson(known, values)
  for (const text of texts) findInText(text, values)
  let seed = 1
  const random = (limit: number) => {
    seed = (seed * 48_271) % 2_147_483_647
    return seed % limit
  }
  return new Redaction({ values, words: new Set(words), kept: new Set(kept), random })
}

describe('Redaction', () => {
  // Conformance: C-24.5.
  it.each([
    ['a braced name', '< REP 1 CHAN_NAME {Nora Quinn                     } >', 'Nora'],
    ['a quoted name', 'rxname(1)="Nora Quinn"\r\n', 'Nora'],
    ['a line with a name', 'Name Nora Quinn\rMute 0\r', 'Nora'],
    ['a name in JSON', '{"rx1":{"name":"Zo\\u00eb \\"Z\\" Quinn"}}', 'Quinn'],
    ['a serial number', '{"device":{"identity":{"serial":"5094003585"}}}', '5094003585'],
    ['a serial number as a number', '{"serial":5094003585}', '5094003585'],
    ['a MAC address', '{"macs":["00:1B:66:12:34:56"]}', '12:34:56'],
    ['an IP address', '< REP IP_ADDR 192.168.001.020 >', '192.168'],
    ['a password', '{"password":"hunter22"}', 'hunter22'],
    ['an activation code', '{"status":"ACTIVATED","code":"1234-ABCD"}', 'ABCD'],
  ])('replaces %s and keeps the rest and the length', (_, text, secret) => {
    const redacted = redactionOf([text]).redact(text)
    expect(redacted).not.toContain(secret)
    expect(redacted.replace(/[\w.: "\\-]/g, '')).toBe(text.replace(/[\w.: "\\-]/g, ''))
  })

  it('replaces the same value alike, in every form', () => {
    const redaction = redactionOf([], { known: { serial_number: '42001234', name: 'Nora Quinn' } })
    const replaced = redaction.redact('42001234')
    expect(replaced).toMatch(/^\d{8}$/)
    expect(redaction.redact('id:42001234 000042001234')).toBe(`id:${replaced} 0000${replaced}`)
    const name = redaction.redact('Nora Quinn')
    for (const encoding of ['hex', 'base64'] as const) {
      const encode = (text: string) => Buffer.from(text).toString(encoding).replace(/=+$/, '')
      expect(redaction.redact(encode('Nora Quinn'))).toBe(encode(name))
    }
    expect(redaction.redact('/api/Nora%20Quinn')).toBe(`/api/${encodeURIComponent(name)}`)
  })

  it('replaces a value that is split between two parts', () => {
    const text = '{Nora Quinn}'
    const redaction = redactionOf([], { known: { name: 'Nora Quinn' } })
    const parts = redaction.redactParts(['{No', 'ra Qui', 'nn}'], false)
    expect(parts.join('')).toBe(redaction.redact(text))
    expect(parts).toHaveLength(3)
  })

  it('replaces no error code in place of a serial number, and no serial number of zeros', () => {
    const text = '{"osc":{"error":[{"device":{"serial":[404,{"desc":"not found"}]}}]},"serial":"0000000000"}'
    expect(redactionOf([text]).redact(text)).toBe(text)
  })

  it('begins no number with a zero that did not', () => {
    const numbers = Array.from({ length: 100 }, (_, index) => ({ serial: 5_094_003_585 + index }))
    const redaction = redactionOf([JSON.stringify(numbers)])
    for (const number of numbers) expect(() => JSON.parse(redaction.redact(JSON.stringify(number)))).not.toThrow()
  })

  it('keeps a model that contains a name, and replaces the name elsewhere', () => {
    const text = '{"product":"Spectera Base Station","name":"Spectera"}'
    const redacted = redactionOf([text], { kept: ['Spectera Base Station'] }).redact(text)
    expect(redacted).toMatch(/^\{"product":"Spectera Base Station","name":"(?!Spectera)[A-Z][a-z]{7}"\}$/)
  })

  it('replaces a word of the protocol only where it is a complete value', () => {
    const redaction = redactionOf([], { known: { name: 'MUTE' }, words: ['MUTE'] })
    expect(redaction.redact('< REP 1 MUTE OFF >')).toBe('< REP 1 MUTE OFF >')
    expect(redaction.redact('< REP 1 CHAN_NAME {MUTE    } >')).not.toContain('MUTE')
    expect(redaction.redact('{"MUTE":"MUTE"}')).toMatch(/^\{"MUTE":"(?!MUTE)[A-Z]{4}"\}$/)
  })

  it('keeps models, versions and loopback addresses', () => {
    const text = '{"name":"ULXD4Q","version":"2.7.6.0","ip":"127.0.0.1"}'
    expect(redactionOf([text], { kept: ['ULXD4Q', '2.7.6.0'] }).redact(text)).toBe(text)
  })
})
