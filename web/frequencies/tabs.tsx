import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { ChoiceButtons } from '../parts/forms/choice.tsx'

const tabs = ['carriers', 'scans', 'tv', 'place', 'profiles', 'plans'] as const
export type Tab = (typeof tabs)[number]

export function useTab(): Tab {
  const [search] = useSearch()
  return tabs.find((name) => name === new URLSearchParams(search).get('tab')) ?? 'carriers'
}

/** The order of a table does not apply to another one. */
export const toTab = (tab: Tab) => ({ tab: tab === 'carriers' ? null : tab, sort: null, plan: null, with: null })

export function Tabs({ tab, counts }: { tab: Tab; counts: Readonly<Partial<Record<Tab, number>>> }) {
  const [, change] = useSearch()
  return (
    <nav className="tabs screen-only" aria-label={t('frequencies.tabs.label')}>
      <ChoiceButtons
        value={tab}
        values={tabs}
        nameOf={(name) => (
          <>
            {t(`frequencies.tabs.${name}`)}
            {counts[name] === undefined ? null : <span className="tab-count">{counts[name]}</span>}
          </>
        )}
        onChoice={(name) => change(toTab(name))}
      />
    </nav>
  )
}
