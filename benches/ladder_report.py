"""The Tuningathon's ladder as a table in Markdown and as a chart in SVG and PNG."""
import matplotlib

# Without a screen.
matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402

# What the origin's machine of 2011 with MySQL 5.5.29 took, seconds: first and second run of the first rung, of the others what the post gives.
ORIGIN = (("defaults", (43.97575, 41.1)), ("buffer pool of 1 GiB", (8.8,)), ("query cache, proxy with q0", (1.0,)),
          ("query cache, proxy with q0q1", (0.56,)), ("query cache, proxy with q0q1q2", (0.067,)))
ORIGIN_NAME = "the origin, MySQL 5.5.29"
# Okabe and Ito's colours, which the colour-blind tell apart. The hatches say the same without colour.
STYLES = (("#0072B2", ""), ("#E69F00", "///"), ("#009E73", "..."), ("#CC79A7", "xx"), ("#56B4E9", "\\\\"), ("#D55E00", "++"))
INK = "#222222"


def milliseconds(cpu):
    return "-" if cpu is None else f"{1000 * cpu:.1f}"


def table(rungs):
    head = ["server", "rung", "first run, s", "second run, s", *(f"Q{number}" for number in range(1, 6)),
            "server CPU, ms: first", "second", "proxy CPU, ms: second", "Qcache_hits: first", "second"]
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    for rung in rungs:
        first, later = rung.runs[0], rung.later()
        cells = [rung.server, rung.name, f"{sum(first.seconds):.4f}", f"{sum(later.seconds):.4f}", *(f"{value:.4f}" for value in later.seconds[1:]),
                 milliseconds(first.server_cpu), milliseconds(later.server_cpu), milliseconds(later.proxy_cpu),
                 *("-" if run.hits is None else str(run.hits) for run in (first, later))]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def bars(rungs):
    """Of each bar its server, name, seconds of the first run (None if not known) and of the second, and the second's server CPU."""
    for name, seconds in ORIGIN:
        yield ORIGIN_NAME, name, seconds[0] if len(seconds) > 1 else None, seconds[-1], None
    for rung in rungs:
        later = rung.later()
        yield rung.server, rung.name, sum(rung.runs[0].seconds), sum(later.seconds), later.server_cpu


def places(rows):
    """Heights of the bars from the top, with a gap between servers."""
    height, before = 0.0, None
    for server, *_ in rows:
        height += 1.0 if server == before else 1.9
        before = server
        yield height


def legend(axes):
    handles = [plot.Line2D([], [], marker="D", linestyle="", markerfacecolor="white", markeredgecolor=INK, label="first run"),
               plot.Rectangle((0, 0), 1, 1, facecolor="white", edgecolor=INK, label="second run"),
               plot.Line2D([], [], marker="|", linestyle="", markersize=12, markeredgewidth=2, color=INK, label="server's CPU in the second run")]
    axes.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.4, -0.08), ncols=3, frameon=False)


def chart(rungs, conditions):
    rows = list(bars(rungs))
    heights = list(places(rows))
    servers = list(dict.fromkeys(row[0] for row in rows))
    low = min(min(row[3], row[4] or row[3]) for row in rows) / 2
    high = max(max(row[3], row[2] or row[3]) for row in rows)
    figure, axes = plot.subplots(figsize=(10, 1.6 + 0.3 * heights[-1]), layout="constrained")
    for (server, _, first, second, cpu), height in zip(rows, heights):
        colour, hatch = STYLES[servers.index(server) % len(STYLES)]
        axes.barh(height, second - low, left=low, height=0.72, color=colour, hatch=hatch, edgecolor="white", linewidth=0)
        if first is not None:
            axes.plot(first, height, marker="D", markersize=6, markerfacecolor="white", markeredgecolor=INK, zorder=3)
        if cpu is not None:
            axes.plot(cpu, height, marker="|", markersize=13, markeredgewidth=4, color="white", zorder=3)
            axes.plot(cpu, height, marker="|", markersize=13, markeredgewidth=2, color=INK, zorder=4)
        axes.annotate(f"{second:.3g} s", (max(second, first or second, cpu or second), height), xytext=(9, 0), textcoords="offset points", va="center", fontsize=9)
    for server in servers:
        top = min(height for row, height in zip(rows, heights) if row[0] == server)
        axes.text(0.0, top - 0.9, f" {server}", transform=axes.get_yaxis_transform(), weight="bold", va="center", fontsize=10)
    axes.set_yticks(heights, [row[1] for row in rows])
    axes.set_ylim(heights[-1] + 0.7, -0.1)
    axes.set_xscale("log")
    axes.set_xlim(low, high * 2.5)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g} s"))
    axes.grid(axis="x", color="#dddddd", zorder=0)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.set_title(f"The Tuningathon: total of Q0 to Q5 ({conditions})", fontsize=11, loc="left")
    legend(axes)
    return figure


def write(folder, rungs, conditions):
    """Writes the three files and returns the table."""
    text = (f"The Tuningathon: {conditions}. Q1 to Q5 are of the second run, the median if there are more.\n\n{table(rungs)}")
    (folder / "tuningathon.md").write_text(text, encoding="utf8")
    figure = chart(rungs, conditions)
    # Text stays text in the SVG, and equal figures are equal bytes.
    with plot.rc_context({"svg.fonttype": "none", "svg.hashsalt": "tuningathon"}):
        figure.savefig(folder / "tuningathon.svg", metadata={"Date": None})
    figure.savefig(folder / "tuningathon.png", dpi=150)
    plot.close(figure)
    return f"{text}\nwritten to {folder}/tuningathon.md, .svg and .png"
