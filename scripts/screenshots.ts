/**
 * Takes screenshots of the demo: of every page at every width, dark and light, into `screenshots/`, or with
 * `--documents` those of the documents. Other arguments select pages by name.
 */

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Browser, Cookie, Page } from 'playwright-core'
import type { DataBody } from '../src/contract/data.ts'
import { pages } from '../src/domain/pages.ts'
import { launchChromium, waitForContent } from '../test/support/browser/chromium.ts'

const { values: flags, positionals: names } = parseArgs({
  options: { documents: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const isSelected = ({ name }: { readonly name: string }) => names.length === 0 || names.includes(name)
const folder = fileURLToPath(new URL(flags.documents ? '../docs/images/' : '../screenshots/', import.meta.url))

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
  { name: 'wall', viewport: { width: 960, height: 540 }, path: '/wall?group=1&pictures=off&charts=off' },
  { name: 'monitor', viewport: medium, path: '/' },
  { name: 'timeline', viewport: medium, path: '/timeline?span=3600' },
  { name: 'frequencies', viewport: { width: 1200, height: 640 }, path: '/frequencies' },
  { name: 'phone', viewport: phone, path: '/' },
  { name: 'alerts', viewport: medium, path: '/alerts' },
  {
    name: 'arrange',
    viewport: medium,
    path: '/',
    async prepare(page) {
      await page.locator('.card').first().waitFor()
      await page.keyboard.press('a')
      await page.locator('.tile').first().waitFor()
    },
  },
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
/** A phone, a tablet, a laptop, a desktop screen and a television. */
const sizes = [
  { width: 390, height: 844 },
  { width: 820, height: 1180 },
  { width: 1440, height: 900 },
  { width: 1920, height: 1080 },
  { width: 3840, height: 2160 },
] as const
const themes = ['dark', 'light'] as const
/** The time until a page has drawn its canvases in a new size. */
const settlingMs = 300
/** The time until the demo has a low battery, a changed address of a receiver, and an offline receiver. */
const storyMs = 150_000

const browser = await launchChromium()
const demo = spawn(process.execPath, ['dist/main.js', 'serve', '--demo', '--json', '--port', '0'], {
  cwd: fileURLToPath(new URL('..', import.meta.url)),
  stdio: ['ignore', 'pipe', 'inherit'],
})
try {
  const address = await readAddress()
  await mkdir(folder, { recursive: true })
  await startShow(address)
  await (flags.documents ? takeDocuments(browser, address) : takeEveryPage(browser, address))
  console.log(`The pictures are in ${folder}`)
} finally {
  await browser.close()
  demo.kill('SIGTERM')
  await once(demo, 'exit')
}

async function takeDocuments(browser: Browser, address: string): Promise<void> {
  console.log(`Running the demo for ${storyMs / 1000} s …`)
  await new Promise((resolve) => setTimeout(resolve, storyMs))
  await createGroup(address)
  for (const { name, viewport, path, prepare } of screens.filter(isSelected)) {
    const page = await browser.newPage({ viewport, colorScheme: 'dark' })
    await page.goto(new URL(path, address).href)
    await waitForContent(page)
    await prepare?.(page)
    await page.waitForTimeout(2_000)
    await page.screenshot({ path: `${folder}${name}.png` })
    await page.close()
  }
}

async function takeEveryPage(browser: Browser, address: string): Promise<void> {
  await createGroup(address)
  const cookies = await setUp(browser, address)
  const { receivers } = await readData(address)
  const [receiver] = receivers
  const ids: Partial<Record<string, number>> = {
    ...{ channel: receiver?.channels[0]?.id, receiver: receiver?.id, show: 1, report: 1, check_report: 1 },
  }
  const paths = [
    ...pages.map(({ name, path }) => ({ name: name as string, path: path.replace(':id', String(ids[name] ?? '')) })),
    { name: 'table', path: '/?layout=list' },
    { name: 'help', path: '/help/index.html' },
    { name: 'unknown', path: '/no-such-page' },
  ].filter(isSelected)
  for (const theme of themes) {
    const page = await browser.newPage({ colorScheme: theme })
    await page.context().addCookies(cookies)
    for (const { name, path } of paths) {
      const url = new URL(path, address)
      url.searchParams.set('theme', theme)
      await page.goto(url.href)
      await waitForContent(page)
      // The page stays open, because loading it takes longer than everything else.
      for (const size of sizes) {
        await page.setViewportSize(size)
        await page.waitForTimeout(settlingMs)
        await page.screenshot({ path: `${folder}${name}-${size.width}-${theme}.png` })
      }
      console.log(`${name}, ${theme}`)
    }
  }
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
  const { receivers } = await readData(address)
  const channels = receivers.flatMap((receiver) => receiver.channels)
  const failing = channels.filter(({ condition }) => condition.attention)
  const others = channels.filter(({ condition }) => !condition.attention && condition.state !== 'receiver_offline')
  const slots = [...failing, ...others].slice(0, 16).map(({ slot }) => slot)
  await post(address, '/api/group/', { title: 'Act 1', slots: slots.sort((a, b) => a - b) })
}

/** Creates an administrator, who may open every page. */
async function setUp(browser: Browser, address: string): Promise<Cookie[]> {
  const context = await browser.newContext()
  const data = { username: 'admin', password: randomUUID() }
  await context.request.post(new URL('/api/auth/setup', address).href, { data })
  const cookies = await context.cookies()
  await context.close()
  return cookies
}

/** Waits for the first receivers. */
async function readData(address: string): Promise<Pick<DataBody, 'receivers'>> {
  const response = await fetch(new URL('/api/data.json', address))
  const data = (await response.json()) as DataBody
  if (data.receivers.length > 0) return data
  await new Promise((resolve) => setTimeout(resolve, 500))
  return readData(address)
}
