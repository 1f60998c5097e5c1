import { type ErrorComponentProps, Link } from '@tanstack/react-router'
import { MapPinOff, RotateCw, TriangleAlert, Unplug } from 'lucide-react'
import { pathOf } from '../../src/domain/pages.ts'
import { Notice } from '../parts/dialogs/notice.tsx'
import { t } from './i18n.ts'
import { usePageTitle } from './page-title.ts'

export function BrokenPage({ error }: ErrorComponentProps) {
  const isUnloaded = isLoadError(error)
  const title = isUnloaded ? t('brokenPage.title') : t('brokenPage.failedTitle')
  usePageTitle(title)
  return (
    <main className="content" id="content" tabIndex={-1}>
      <h1 className="visually-hidden">{t('product')}</h1>
      <Notice title={title} icon={isUnloaded ? Unplug : TriangleAlert}>
        <p role="alert">{isUnloaded ? t('brokenPage.why') : t('brokenPage.failed')}</p>
        <button type="button" className="action" onClick={() => location.reload()}>
          <RotateCw className="icon" aria-hidden="true" />
          {t('brokenPage.retry')}
        </button>
        {isUnloaded ? null : (
          <details>
            <summary>{t('brokenPage.details')}</summary>
            <code>{String(error)}</code>
          </details>
        )}
      </Notice>
    </main>
  )
}

/** Only the message says that a script or a style sheet could not be loaded. */
function isLoadError(error: unknown): boolean {
  return error instanceof Error && /imported module|module script|preload CSS/i.test(error.message)
}

export function UnknownPage() {
  usePageTitle(t('unknownPage.title'))
  return (
    <main className="content" id="content" tabIndex={-1}>
      <h1 className="visually-hidden">{t('product')}</h1>
      <Notice title={t('unknownPage.title')} icon={MapPinOff}>
        <p>{t('unknownPage.why')}</p>
        <code className="path">{location.pathname}</code>
        <Link className="action" to={pathOf('monitor')}>
          {t('unknownPage.home')}
        </Link>
      </Notice>
    </main>
  )
}
