import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { audioFloorOf, getPlugin, plugins } from './index.ts'

test('plugins contains exactly one plugin per folder', () => {
  const entries = readdirSync(new URL('.', import.meta.url), { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  expect(plugins.map(({ code }) => code).toSorted()).toEqual(folders.toSorted())
  for (const plugin of plugins) expect(getPlugin(plugin.code)).toBe(plugin)
})

test('the README and the manifest of the Companion module name every manufacturer', () => {
  const names = plugins.flatMap(({ search, name }) => (search === undefined ? [] : (name.split(' ')[0] ?? '')))
  for (const path of ['README.md', 'integrations/companion-module-micwatch/companion/manifest.json']) {
    const text = readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
    expect(names.filter((name) => !text.includes(name))).toEqual([])
  }
})

// Conformance: S-1.7, C-3.22.
test.each(['acme', '', 'Shure', '__proto__'])('getPlugin throws for the unknown code %j', (code) => {
  expect(() => getPlugin(code)).toThrow(`No plugin found for manufacturer code: ${code}`)
})

test.each([
  ['shure', 'ulxd', -50],
  ['shure', 'qlxd', -50],
  ['shure', 'slxd', null],
  ['sennheiser', 'ew', -50],
  ['audio_technica', 'esw', -50],
  ['audio_technica', 'ulxd', null],
  ['unknown', 'ulxd', null],
])('audioFloorOf %s %s is %j', (manufacturer, device_type, floor) => {
  expect(audioFloorOf({ manufacturer, device_type })).toBe(floor)
})
