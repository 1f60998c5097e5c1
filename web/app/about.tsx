import { Languages } from 'lucide-react'
import { useId } from 'react'
import { useServices, useWatchState } from './context.ts'
import { formatDuration } from './format.ts'
import { chosenLanguage, isUnconfirmed, languages, rememberLanguage, t } from './i18n.ts'
import { useNow } from './now.ts'
import { usePageTitle } from './page-title.ts'
import { clockAheadMs, clockToleranceMs } from './service-time.ts'
import { useMay } from './session.ts'

export function About() {
  const { mount } = useServices()
  const version = useWatchState((watchState) => watchState.health?.version ?? __MICWATCH_VERSION__)
  const update = useWatchState((watchState) => watchState.health?.update ?? null)
  useNow()
  usePageTitle(t('nav.about'))
  const socketUrl = `${location.origin.replace(/^http/, 'ws')}${mount}/ws`
  return (
    <main className="content prose" id="content" tabIndex={-1}>
      <h1>{t('about.title')}</h1>
      <p>{t('about.what')}</p>
      <p>
        <a className="action" href={`${mount}/help/`}>
          {t('about.help')}
        </a>
      </p>
      <dl className="pairs">
        <dt>{t('about.version')}</dt>
        <dd>
          {version}
          {update === null ? null : (
            <>
              {' · '}
              <a href={update.url} rel="noreferrer">
                {t('about.update', { version: update.version })}
              </a>
            </>
          )}
        </dd>
        <dt>{t('about.licence')}</dt>
        <dd>{t('about.mit')}</dd>
        <dt>{t('about.clock.title')}</dt>
        <dd>{clockText(clockAheadMs())}</dd>
      </dl>
      <LanguageChoice />
      <SupportBundle />
      <h2>{t('about.interface')}</h2>
      <ul className="paths">
        {apiPaths.map(({ path, text }) => (
          <li key={path}>
            <a href={`${mount}${path}`}>
              <code>{`${mount}${path}`}</code>
            </a>{' '}
            {text}
          </li>
        ))}
      </ul>
      <p>{t('about.socket', { url: socketUrl })}</p>
    </main>
  )
}

function SupportBundle() {
  const { mount } = useServices()
  if (!useMay('administer')) return null
  const path = `${mount}/api/admin/support-bundle.json`
  return (
    <>
      <h2>{t('about.support.title')}</h2>
      <p>{t('about.support.what')}</p>
      <p className="prose-actions">
        <a className="choice" href={path} download>
          {t('about.support.download')}
        </a>
        <a className="choice" href={`${path}?names=1`} download>
          {t('about.support.downloadNames')}
        </a>
      </p>
    </>
  )
}

function clockText(aheadMs: number): string {
  if (Math.abs(aheadMs) <= clockToleranceMs) return t('about.clock.same')
  const time = formatDuration(Math.abs(aheadMs))
  return aheadMs < 0 ? t('about.clock.ahead', { time }) : t('about.clock.behind', { time })
}

const apiPaths = [
  { path: '/api/data.json', text: t('about.paths.data') },
  { path: '/api/receivers/', text: t('about.paths.receivers') },
  { path: '/api/health/', text: t('about.paths.health') },
  { path: '/api/config/', text: t('about.paths.config') },
  { path: '/api/groups/', text: t('about.paths.groups') },
  { path: '/api/alerts/', text: t('about.paths.alerts') },
  { path: '/healthz', text: t('about.paths.healthz') },
]

function LanguageChoice() {
  const id = useId()
  const change = (value: string) => {
    rememberLanguage(value === '' ? null : value)
    location.reload()
  }
  return (
    <>
      <p className="language-choice">
        <Languages className="icon" aria-hidden="true" />
        <label htmlFor={id}>{t('about.language')}</label>
        <select
          id={id}
          className="choice"
          value={chosenLanguage ?? ''}
          onChange={(event) => change(event.target.value)}
        >
          <option value="">{t('about.asInBrowser')}</option>
          {languages.map((language) => (
            <option key={language} value={language} lang={language}>
              {ownName(language)}
            </option>
          ))}
        </select>
      </p>
      {isUnconfirmed ? <p className="hint">{t('about.unconfirmed')}</p> : null}
    </>
  )
}

function ownName(language: string): string {
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1)
}
