"""Papers, books and manuals that the report's method rests on."""

from __future__ import annotations

SOURCES = {
    "fisher": "R. A. Fisher, The Design of Experiments, 1935",
    "duet": "L. Bulej et al., Duet Benchmarking: Improving Measurement Accuracy in the Cloud, ICPE 2020",
    "split-plot": "B. Jones and C. J. Nachtsheim, Split-Plot Designs: What, Why, and How, Journal of Quality "
    "Technology 41, 2009",
    "plackett-burman": "R. L. Plackett and J. P. Burman, The Design of Optimum Multifactorial Experiments, "
    "Biometrika 33, 1946",
    "fractions": "G. E. P. Box and J. S. Hunter, The 2^(k-p) Fractional Factorial Designs, Technometrics 3, "
    "1961",
    "pocock": "S. J. Pocock, Group Sequential Methods in the Design and Analysis of Clinical Trials, "
    "Biometrika 64, 1977",
    "repeated": "C. Jennison and B. W. Turnbull, Interim Analyses: The Repeated Confidence Interval "
    "Approach, JRSS B 51, 1989",
    "open-loop": "B. Schroeder, A. Wierman and M. Harchol-Balter, Open Versus Closed: A Cautionary Tale, "
    "NSDI 2006",
    "histogram": "G. Tene, HdrHistogram: A High Dynamic Range Histogram, 2012",
    "fio": "J. Axboe, fio manual, 2024",
    "mser": "K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, "
    "Simulation 69, 1997",
    "littles-law": "J. D. C. Little, A Proof for the Queuing Formula L = λW, Operations Research 9, 1961",
    "bootstrap-t": "B. Efron and R. J. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 12",
    "symmetric": "P. Hall, On Symmetric Bootstrap Confidence Intervals, JRSS B 50, 1988",
    "smoothed": "B. W. Silverman and G. A. Young, The Bootstrap: To Smooth or Not to Smooth?, Biometrika "
    "74, 1987",
    "welch": "B. L. Welch, The Generalization of Student's Problem, Biometrika 34, 1947",
    "holm": "S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of "
    "Statistics 6, 1979",
    "usl": "N. J. Gunther, Guerrilla Capacity Planning, 2007, chapters 4 to 6",
    "strata": "G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for Experimenters, 2nd edition, 2005, "
    "chapter 9",
    "row-locks": "MySQL 8.4 Reference Manual, Server Status Variables, 2024",
    "proc": "Linux man-pages, proc(5), 2024",
}
"""Key -> how it is cited."""
