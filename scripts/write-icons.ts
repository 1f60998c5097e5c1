/**
 * Renders `web/icon.svg` to the icons of the installable app in `web/public/app/`. Run it after a change of the icon:
 * `npx tsx scripts/write-icons.ts`.
 */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { launchChromium } from '../test/support/browser/chromium.ts'

const folder = fileURLToPath(new URL('../web/public/app/', import.meta.url))
const svg = readFileSync(new URL('../web/icon.svg', import.meta.url), 'utf8')
const [, background] = /<rect [^>]*fill="(#[0-9a-f]{6})"/.exec(svg) ?? []
if (background === undefined) throw new Error('The first rectangle of icon.svg has no background colour.')

/** A full icon has a background up to its corners, because the operating system cuts out the shape. */
const icons = [
  { name: 'icon-192', size: 192, isFull: false },
  { name: 'icon-512', size: 512, isFull: false },
  { name: 'maskable-192', size: 192, isFull: true },
  { name: 'maskable-512', size: 512, isFull: true },
  { name: 'apple-touch-icon', size: 180, isFull: true },
]
/** The part of a full icon that every shape leaves visible: a circle of 80%. */
const visiblePart = 0.8

const browser = await launchChromium()
try {
  const page = await browser.newPage()
  for (const { name, size, isFull } of icons) {
    const width = isFull ? Math.round(size * visiblePart) : size
    await page.setViewportSize({ width: size, height: size })
    await page.setContent(
      `<body style="margin:0;display:grid;place-items:center;height:100vh;background:${isFull ? background : 'none'}">` +
        `<img width="${width}" height="${width}" src="data:image/svg+xml,${encodeURIComponent(svg)}" alt="">`,
    )
    await page.screenshot({ path: `${folder}${name}.png`, omitBackground: true })
  }
} finally {
  await browser.close()
}
