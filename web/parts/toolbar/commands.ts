/** Keyboard shortcuts, buttons and the help are generated from this list. */

import type { Group } from '../../../src/contract/groups.ts'
import type { Alarm, AlarmState } from '../../app/alarm.ts'
import { t } from '../../app/i18n.ts'
import type { View } from '../../app/view.ts'

export interface Command {
  readonly key: string
  readonly keyText?: string
  readonly text: string
  readonly isOn?: boolean
  /** The page has another control for this command. */
  readonly isElsewhere?: boolean
  run(key: string): void
}

export interface CommandOptions {
  readonly page: 'monitor' | 'wall'
  readonly view: View
  readonly groups: readonly Group[]
  readonly alarm: Alarm
  readonly alarmState: AlarmState
  /** In a replay, nothing can be changed and nothing sounds. */
  readonly isReplay: boolean
  readonly hasSites: boolean
  change(view: Partial<View>): void
  /** The monitor and the wall keep the group. */
  open(page: 'monitor' | 'wall' | 'sites'): void
  show(what: 'help' | 'qr' | 'arrange'): void
  search(): void
}

export function listCommands(options: CommandOptions): readonly Command[] {
  const commands = listEveryCommand(options)
  return options.view.kiosk === '1' ? commands.filter(({ key }) => key === 'm') : commands
}

function listEveryCommand(options: CommandOptions): readonly Command[] {
  const { page, view, groups, alarm, alarmState, isReplay, hasSites, change, open, show, search } = options
  const isProblemsFirst = view.sort === 'problems'
  return [
    { key: '?', text: t('live.keys.help'), run: () => show('help') },
    ...(page === 'monitor' ? [{ key: '/', text: t('live.keys.search'), isElsewhere: true, run: search }] : []),
    {
      key: '0123456789',
      keyText: '0–9',
      text: t('live.keys.groups'),
      isElsewhere: true,
      run: (key) => change({ group: groups[Number(key) - 1]?.id ?? null }),
    },
    page === 'monitor'
      ? { key: 'w', text: t('live.keys.wall'), run: () => open('wall') }
      : { key: 'd', text: t('live.keys.monitor'), run: () => open('monitor') },
    ...(page === 'monitor'
      ? [
          {
            key: 'p',
            text: t('live.keys.problems'),
            isOn: isProblemsFirst,
            run: () => change({ sort: isProblemsFirst ? 'slot' : 'problems' }),
          },
          {
            key: 'l',
            text: t('live.keys.layout'),
            isElsewhere: true,
            run: () => change({ layout: view.layout === 'grid' ? 'list' : 'grid' }),
          },
        ]
      : []),
    ...(hasSites
      ? [{ key: 's', text: t('live.keys.sites'), run: () => open('sites'), isElsewhere: page === 'monitor' }]
      : []),
    { key: 'f', text: t('live.keys.full'), run: toggleFullScreen },
    { key: 'q', text: t('live.keys.qr'), run: () => show('qr') },
    ...(page === 'wall'
      ? [toggle('g', t('live.keys.pictures'), view.pictures, (pictures) => change({ pictures }))]
      : []),
    toggle('c', t('live.keys.charts'), view.charts, (charts) => change({ charts })),
    ...(isReplay
      ? []
      : [
          {
            key: 'm',
            text: alarmState.sound === 'blocked' ? t('live.keys.soundBlocked') : t('live.keys.sound'),
            isOn: alarmState.sound === 'on',
            run: () => void alarm.toggleSound(),
          },
        ]),
    ...(page === 'monitor' && !isReplay
      ? [{ key: 'a', text: t('live.keys.arrange'), run: () => show('arrange') }]
      : []),
  ]
}

function toggle(key: string, text: string, value: 'on' | 'off', set: (value: 'on' | 'off') => void): Command {
  return { key, text, isOn: value === 'on', run: () => set(value === 'on' ? 'off' : 'on') }
}

function toggleFullScreen() {
  // The browser reports a refusal itself.
  const done = document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()
  done.catch(() => {})
}

/** Null while the user types in a field or uses a modifier key. */
export function commandOf(commands: readonly Command[], event: KeyboardEvent): Command | null {
  const { key, ctrlKey, metaKey, altKey, target, isComposing } = event
  if (ctrlKey || metaKey || altKey || isComposing || key.length !== 1) return null
  const isTyping = target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null
  if (isTyping || document.querySelector('dialog[open]') !== null) return null
  return commands.find((command) => command.key.includes(key.toLowerCase())) ?? null
}
