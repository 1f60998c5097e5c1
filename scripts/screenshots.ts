/** Takes the screenshots of the documents: pages of the demo. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { launchChromium } from '../test/support/browser/chromium.ts'

const folder = fileURLToPath(new URL('../docs/images/', import.meta.url))

interface Screen {
  readonly name: string
  readonly viewport: { readonly width: number; readonly height: number }
  readonly path: string
  /** Brings the page into the state of the picture. */
  prepare?(page: Page): Promise<void>
}

const showTitle = 'Evening'
const medium = { width: 1200, height: 750 }
const phone = { width: 390, height: 844 }
const screens: readonly Screen[] = [
  { name: 'wall', viewport: { width: 1120, height: 630 }, path: '/wall?group=1&pictures=off&charts=off' },
  { name: 'monitor', viewport: medium, path: '/' },
  { name: 'timeline', viewport: medium, path: '/timeline?span=3600' },
  { name: 'frequencies', viewport: medium, path: '/frequencies' },
  { name: 'phone', viewport: phone, path: '/' },
  { name: 'alerts', viewport: medium, path: '/alerts' },
  { name: 'arrange', viewport: medium, path: '/', prepare: (page) => page.keyboard.press('a') },
  {
    name: 'replay',
    viewport: medium,
    path: '/',
    async prepare(page) {
      await page.goto(`${page.url()}?at=${new Date(Date.now() - 60_000).toISOString()}`)
      await page.locator('.replay-bar').waitFor()
    },
  },
  {
    name: 'check',
    viewport: phone,
    path: '/check',
    prepare: (page) => page.getByRole('link', { name: showTitle }).click(),
  },
  {
    name: 'report',
    viewport: medium,
    path: '/reports/2',
    prepare: (page) => page.getByRole('heading', { name: 'Summary' }).waitFor({ timeout: 120_000 }),
  },
]
/** The time until the demo has a low battery, a changed address of a receiver, and an offline receiver. */
const storyMs = 150_000

const demo = spawn(process.execPath, ['dist/main.js', 'serve', '--demo', '--json', '--port', '0'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: ['ignore', 'pipe', 'inherit'],
})
const browser = await launchChromium()
try {
  const address = await readAddress()
  await mkdir(folder, { recursive: true })
  await startShow(address)
  const pages = await Promise.all(
    screens.map(async ({ viewport, path }) => {
      const page = await browser.newPage({ viewport, colorScheme: 'dark' })
      await page.goto(new URL(path, address).href)
      return page
    }),
  )
  console.log(`Running the demo for ${storyMs / 1000} s …`)
  await new Promise((resolve) => setTimeout(resolve, storyMs))
  await createGroup(address)
  for (const [index, page] of pages.entries()) {
    const screen = screens[index]
    await screen?.prepare?.(page)
    await page.waitForTimeout(2_000)
    await page.screenshot({ path: `${folder}${screen?.name}.png` })
  }
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await once(demo, 'exit')
}

async function readAddress(): Promise<string> {
  let text = ''
  for await (const line of createInterface({ input: demo.stdout })) {
    text += line
    if (line === '}') break
  }
  return (JSON.parse(text) as { address: string }).address
}

async function post(address: string, path: string, body: object): Promise<{ readonly id: number }> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(new URL(path, address), { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as { id: number }
}

/** Starts a show that ends in two hours, for the line check. */
async function startShow(address: string): Promise<void> {
  const now = Date.now()
  const [starts_at, ends_at] = [now, now + 2 * 3_600_000].map((time) => new Date(time).toISOString())
  const { id } = await post(address, '/api/shows/', { title: showTitle, starts_at, ends_at })
  await post(address, `/api/shows/${id}/start`, {})
}

/** Creates a group for the wall: the channels that need attention, and others. */
async function createGroup(address: string): Promise<void> {
  const response = await fetch(new URL('/api/data.json', address))
  const { receivers } = (await response.json()) as {
    receivers: { channels: { slot: number; condition: { attention: boolean; state: string } }[] }[]
  }
  const channels = receivers.flatMap((receiver) => receiver.channels)
  const failing = channels.filter(({ condition }) => condition.attention)
  const others = channels.filter(({ condition }) => !condition.attention && condition.state !== 'receiver_offline')
  const slots = [...failing, ...others].slice(0, 16).map(({ slot }) => slot)
  await post(address, '/api/group/', { title: 'Act 1', slots: slots.sort((a, b) => a - b) })
}
