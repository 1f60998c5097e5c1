import { Ellipsis, ListFilter, type LucideIcon, SlidersHorizontal, TriangleAlert, X } from 'lucide-react'
import { type RefObject, useMemo, useState } from 'react'
import { localSite } from '../../src/domain/equipment/sites.ts'
import type { SortKey } from '../app/columns.ts'
import { useWatchState } from '../app/context.ts'
import { plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useMay } from '../app/session.ts'
import { narrow, useMedia } from '../app/use-media.ts'
import { layouts, type Sort, stateFilters, themes, type View } from '../app/view.ts'
import { parseSort } from '../parts/channels/channel-order.ts'
import { onDemand } from '../parts/dialogs/on-demand.tsx'
import { useManufacturerNames } from '../parts/equipment/manufacturer-names.tsx'
import { Choice } from '../parts/forms/choice.tsx'
import type { Command } from '../parts/toolbar/commands.ts'
import { GroupChoices } from '../parts/toolbar/group-choices.tsx'
import { Menu } from '../parts/toolbar/menu.tsx'
import { CommandButtons, NotifyButton } from '../parts/toolbar/tools.tsx'
import { KeepAwake } from '../parts/toolbar/wake-lock.tsx'
import { useRegion } from '../parts/use-region.ts'

const ColumnsDialog = onDemand(async () => (await import('./columns-dialog.tsx')).ColumnsDialog)

const NewGroup = onDemand(async () => (await import('../parts/channels/new-group.tsx')).NewGroup)

interface ToolbarProps {
  readonly view: View
  readonly commands: readonly Command[]
  readonly searchField: RefObject<HTMLInputElement | null>
  change(view: Partial<View>): void
}

export function Toolbar({ view, commands, searchField, change }: ToolbarProps) {
  const [isChoosingColumns, setChoosingColumns] = useState(false)
  const [isGrouping, setGrouping] = useState(false)
  const mayGroup = useMay('operate')
  const isNarrow = useMedia(narrow)
  const region = useRegion<HTMLElement>()
  return (
    <section className="toolbar" ref={region} aria-label={t('live.toolbar.label')}>
      <GroupTabs view={view} change={change} />
      <div className="toolbar-choices">
        <Search view={view} change={change} field={searchField} />
        <ChosenGroup view={view} change={change} />
        <ProblemsFirst view={view} change={change} />
        {isNarrow ? (
          <Menu button={<MenuText icon={ListFilter} text={t('live.toolbar.filter')} />}>
            <GroupChoice view={view} change={change} />
            <Filters view={view} change={change} />
          </Menu>
        ) : (
          <>
            <Filters view={view} change={change} />
            <Order view={view} change={change} />
          </>
        )}
        <Menu button={<MenuText icon={SlidersHorizontal} text={t('live.toolbar.label')} />}>
          {isNarrow ? <Order view={view} change={change} /> : null}
          {view.layout === 'list' ? (
            <button type="button" className="choice" onClick={() => setChoosingColumns(true)}>
              {t('live.columns.title')}
            </button>
          ) : null}
          <CommandButtons commands={commands} keys="cf" />
          <KeepAwake />
          <Choice
            label={t('live.toolbar.theme')}
            value={view.theme}
            nameOf={(theme) => t(`live.themes.${theme}`)}
            values={themes}
            onChoice={(theme) => change({ theme })}
          />
        </Menu>
        <Menu button={<MenuText icon={Ellipsis} text={t('live.toolbar.more')} />} label={t('live.toolbar.moreLabel')}>
          <CommandButtons commands={commands} keys="aq?" />
          {mayGroup ? (
            <button type="button" className="choice" onClick={() => setGrouping(true)}>
              {t('groups.new')}
            </button>
          ) : null}
          <NotifyButton />
        </Menu>
      </div>
      {isChoosingColumns ? <ColumnsDialog {...{ view, change }} onClose={() => setChoosingColumns(false)} /> : null}
      {isGrouping ? (
        <NewGroup
          view={view}
          onCreated={({ id }) => change({ group: id, q: '', state: 'all' })}
          onClose={() => setGrouping(false)}
        />
      ) : null}
    </section>
  )
}

function ProblemsFirst({ view: { sort }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const isOn = sort === 'problems'
  return (
    <button
      type="button"
      className="choice problems-first"
      aria-pressed={isOn}
      onClick={() => change({ sort: isOn ? 'slot' : 'problems' })}
    >
      <TriangleAlert className="icon" aria-hidden="true" />
      <span className="toolbar-text">{t('live.sorts.problems')}</span>
    </button>
  )
}

const sorts: readonly SortKey[] = ['slot', 'problems', 'name', 'battery', 'rf']

function sortName(sort: Sort): string {
  const { key, isDescending } = parseSort(sort)
  const name = t(`live.sorts.${key}`)
  return isDescending ? t('live.sortDescending', { sort: name }) : name
}

function MenuText({ icon: Icon, text }: { icon: LucideIcon; text: string }) {
  return (
    <>
      <Icon className="icon" aria-hidden="true" />
      <span className="toolbar-text">{text}</span>
    </>
  )
}

function Filters({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  return (
    <>
      <Choice
        label={t('live.toolbar.state')}
        value={view.state}
        nameOf={(state) => t(`live.states.${state}`)}
        values={stateFilters}
        onChoice={(state) => change({ state })}
      />
      <Manufacturers view={view} change={change} />
      <Sites view={view} change={change} />
    </>
  )
}

function Order({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  return (
    <>
      <Choice<Sort>
        label={t('live.toolbar.sort')}
        value={view.sort}
        nameOf={sortName}
        values={[...new Set<Sort>([...sorts, view.sort])]}
        onChoice={(sort) => change({ sort })}
      />
      <div className="toolbar-layouts">
        {layouts.map((layout) => (
          <button
            key={layout}
            type="button"
            className="choice"
            aria-pressed={view.layout === layout}
            onClick={() => change({ layout })}
          >
            {t(`live.layouts.${layout}`)}
          </button>
        ))}
      </div>
    </>
  )
}

function GroupChoice({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const groups = useWatchState((watchState) => watchState.groups)
  if (groups.length === 0) return null
  return (
    <Choice
      label={t('live.toolbar.groups')}
      value={String(view.group ?? '')}
      values={['', ...groups.map(({ id }) => String(id))]}
      nameOf={(id) => groups.find((group) => String(group.id) === id)?.title ?? t('live.toolbar.everything')}
      onChoice={(id) => change({ group: id === '' ? null : Number(id) })}
    />
  )
}

/** Replaces the tabs on narrow pages. A press shows all channels. */
function ChosenGroup({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const title = useWatchState(({ groups }) => groups.find((group) => group.id === view.group)?.title ?? null)
  if (title === null) return null
  return (
    <button type="button" className="choice toolbar-group" aria-pressed={true} onClick={() => change({ group: null })}>
      <bdi>{title}</bdi>
      <X className="icon" aria-hidden="true" />
    </button>
  )
}

function GroupTabs({ view, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const hasGroups = useWatchState((watchState) => watchState.groups.length > 0)
  return hasGroups ? <GroupChoices className="group-tabs" {...{ view, change }} /> : null
}

/**
 * Takes effect while the user types. Escape clears it. The URL follows a moment later, so the field shows the URL's
 * search only without the focus.
 */
function Search({
  view,
  change,
  field,
}: Pick<ToolbarProps, 'view' | 'change'> & { field: ToolbarProps['searchField'] }) {
  const [text, setText] = useState<string | null>(null)
  const type = (next: string) => {
    setText(next)
    change({ q: next.trim() })
  }
  return (
    <input
      ref={field}
      className="choice search"
      type="search"
      aria-label={t('live.toolbar.search')}
      placeholder={t('live.toolbar.searchHint')}
      value={text ?? view.q}
      maxLength={100}
      onBlur={() => setText(null)}
      onChange={(event) => type(event.target.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        type('')
        event.currentTarget.blur()
      }}
    />
  )
}

function Manufacturers({ view: { manufacturer }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const codes = useWatchState(
    (watchState) => watchState.health?.manufacturers.map((manufacturer) => manufacturer.code).join(' ') ?? '',
  )
  const nameOf = useManufacturerNames()
  const known = codes === '' ? [] : codes.split(' ')
  if (known.length < 2 && manufacturer === null) return null
  const all = manufacturer === null || known.includes(manufacturer) ? known : [...known, manufacturer]
  return (
    <Choice
      label={t('live.toolbar.manufacturer')}
      value={manufacturer ?? ''}
      values={['', ...all]}
      nameOf={(code) => (code === '' ? t('filters.all') : nameOf(code))}
      onChoice={(code) => change({ manufacturer: code === '' ? null : code })}
    />
  )
}

/** Nothing if this installation follows no sites. */
function Sites({ view: { site }, change }: Pick<ToolbarProps, 'view' | 'change'>) {
  const sites = useSites()
  if (sites.size === 0 && site === null) return null
  const codes = [...sites.keys()].sort()
  const known = site === null || site === localSite || sites.has(site) ? codes : [...codes, site]
  const nameOf = (code: string) => {
    if (code === '') return t('live.toolbar.allSites')
    return code === localSite ? t('live.toolbar.localSite') : plainText(sites.get(code) ?? code)
  }
  return (
    <Choice
      label={t('live.toolbar.site')}
      value={site ?? ''}
      values={['', localSite, ...known]}
      nameOf={nameOf}
      onChoice={(code) => change({ site: code === '' ? null : code })}
    />
  )
}

function useSites(): ReadonlyMap<string, string> {
  const receivers = useWatchState((watchState) => watchState.receivers)
  return useMemo(() => {
    const sites = new Map<string, string>()
    for (const { site } of receivers.values()) if (site !== null) sites.set(site.code, site.name)
    return sites
  }, [receivers])
}
