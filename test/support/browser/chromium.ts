/** Finds the browser for the tests: an installed one, or on Debian one that is installed on demand. */

import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { type Browser, chromium, type Page } from 'playwright-core'

const execFileAsync = promisify(execFile)

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
const macPaths = [
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/**
 * Features of Chromium that the tests do without. Each window would load the first two, which takes a third of the CPU
 * time of a test. The others are the features that Playwright disables by default; they are repeated here because this
 * list replaces Playwright's.
 */
const disabledFeatures = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'LensOverlay',
  'MediaRouter',
  'PaintHolding',
  'ThirdPartyStoragePartitioning',
  'AvoidCorsURLLoaderRestartOnRedirect',
  'OptimizationHints',
  'NetworkTimeServiceQuerying',
  'AimEnabled',
  'PreconnectToSearch',
]

/** Arguments that allow Chromium to run as root in a container, and prevent requests to the Internet. */
const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
  `--disable-features=${disabledFeatures.join(',')}`,
]

let chromiumPath: Promise<string> | undefined

/**
 * Starts Chromium with these additional arguments, and installs it first if needed. A hook that calls this needs a
 * timeout of a few minutes.
 */
export async function launchChromium(additional: readonly string[] = []): Promise<Browser> {
  return chromium.launch({ executablePath: await findChromium(), args: [...args, ...additional] })
}

/** Resolves once a page of the service has rendered and no request is running. */
export async function waitForContent(page: Page): Promise<void> {
  await page.locator('main').waitFor({ state: 'attached' })
  await page.waitForLoadState('networkidle')
}

let sharedBrowser: Promise<Browser> | undefined

/**
 * Returns the browser of this worker process, which its test files share and which ends with the process. It is the
 * headless shell where that is installed, because it takes a quarter less CPU time. The shell has no notifications.
 */
export function findBrowser(): Promise<Browser> {
  sharedBrowser ??= launchHeadlessShell()
  return sharedBrowser
}

async function launchHeadlessShell(): Promise<Browser> {
  const complete = await findChromium()
  const name = 'chromium-headless-shell'
  const find = async () => (await findExecutable([name])) ?? (await installOnDebian(name).catch(() => undefined))
  const shell = process.env.CHROMIUM_PATH ? undefined : await find()
  return chromium.launch({ executablePath: shell ?? complete, args })
}

/** Returns the path of an executable Chromium or Chrome. */
function findChromium(): Promise<string> {
  chromiumPath ??= findOrInstall()
  return chromiumPath
}

async function findOrInstall(): Promise<string> {
  const configured = process.env.CHROMIUM_PATH
  if (configured) {
    if (await isExecutable(configured)) return configured
    throw new Error(`CHROMIUM_PATH names ${configured}, which is not an executable file.`)
  }
  const installed = (await findExecutable(names, macPaths)) ?? (await installOnDebian('chromium'))
  if (installed !== undefined) return installed
  throw new Error(
    'The browser tests need Chromium: install Chromium or Chrome, or set CHROMIUM_PATH to its executable.',
  )
}

/** Returns the path of the first program of these names in PATH, or else the first of `paths` that is executable. */
async function findExecutable(names: readonly string[], paths: readonly string[] = []): Promise<string | undefined> {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const candidates = [...names.flatMap((name) => folders.map((folder) => join(folder, name))), ...paths]
  for (const path of candidates) if (await isExecutable(path)) return path
  return undefined
}

/** Installs this Debian package, and returns the path of its program of the same name. */
async function installOnDebian(name: string): Promise<string | undefined> {
  if (process.getuid?.() !== 0 || !(await isExecutable('/usr/bin/apt-get'))) return undefined
  console.error(`Installing the Debian package ${name} for the browser tests (up to a minute).`)
  const install = `command -v ${name} || { apt-get update -qq && apt-get install -y -qq ${name}; }`
  try {
    // Test files run in several processes, and apt-get fails while another instance runs.
    await execFileAsync('flock', [join(tmpdir(), 'micwatch-chromium.lock'), 'sh', '-c', install], {
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    })
  } catch (cause) {
    throw new Error(`The browser tests need Chromium, and \`apt-get install ${name}\` failed.`, { cause })
  }
  return findExecutable([name])
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  )
}
