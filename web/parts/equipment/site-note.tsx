import { ExternalLink } from 'lucide-react'
import type { SiteReference } from '../../../src/contract/schema.ts'
import { type PageName, pathOf } from '../../../src/domain/pages.ts'
import { useWatchState } from '../../app/context.ts'
import { formatList, plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'

interface SiteNoteProps {
  readonly site: SiteReference
  readonly page: PageName
  readonly children: string
}

export function SiteNote({ site, page, children }: SiteNoteProps) {
  const url = useWatchState(({ sites }) => sites.find(({ code }) => code === site.code)?.url ?? null)
  return (
    <span className="site-note">
      {children}
      {url === null ? null : (
        <a className="choice" data-tone="quiet" href={url + pathOf(page)} target="_blank" rel="noreferrer">
          <ExternalLink className="icon" aria-hidden="true" />
          {t('sites.open', { name: plainText(site.name) })}
        </a>
      )}
    </span>
  )
}

export function InterruptedSites({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <p role="status" className="history-problem">
      {t('parts.interruptedSites', { count: names.length, names: formatList(names.map(plainText)) })}
    </p>
  )
}
