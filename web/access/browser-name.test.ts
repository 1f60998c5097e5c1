import { expect, test } from 'vitest'
import { browserOf } from './browser-name.ts'

const chromium = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/146.0.0.0'
const webkit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'

test.each([
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chromium} Safari/537.36`, 'Chrome · Windows'],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chromium} Safari/537.36 Edg/146.0.0.0`, 'Edge · Windows'],
  [`Mozilla/5.0 (Linux; Android 10; K) ${chromium} Mobile Safari/537.36`, 'Chrome · Android'],
  [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Version/26.0 Safari/605.1.15`, 'Safari · macOS'],
  [`Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${webkit} CriOS/146.0 Mobile/15E148`, 'Chrome · iPhone'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:152.0) Gecko/20100101 Firefox/152.0', 'Firefox · Linux'],
  ['curl/8.5.0', 'curl/8.5.0'],
])('browserOf names the browser and the system of %s', (agent, name) => {
  expect(browserOf(agent)).toBe(name)
})
