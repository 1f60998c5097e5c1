/** What Micwatch is, which one this is, and where programs find it. */

import { useHouse, useSurroundings } from '../context.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { words } from '../words.ts'

export function About() {
  const { mount } = useSurroundings()
  const version = useHouse((runtime) => runtime.health?.version ?? __MICWATCH_VERSION__)
  const socketUrl = `${location.origin.replace(/^http/, 'ws')}${mount}/ws`
  return (
    <>
      <TopBar current="about" />
      <main className="content prose">
        <h1>{words.about.title}</h1>
        <p>{words.about.what}</p>
        <dl className="pairs">
          <dt>{words.about.version}</dt>
          <dd>{version}</dd>
          <dt>{words.about.licence}</dt>
          <dd>{words.about.mit}</dd>
        </dl>
        <h2>{words.about.interface}</h2>
        <ul className="paths">
          {Object.entries(words.about.paths).map(([path, says]) => (
            <li key={path}>
              <a href={`${mount}${path}`}>
                <code>{`${mount}${path}`}</code>
              </a>{' '}
              {says}
            </li>
          ))}
        </ul>
        <p>{words.about.socket(socketUrl)}</p>
      </main>
    </>
  )
}
